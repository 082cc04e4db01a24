-- Version 11. Lists of jobs cost what a page costs, however many jobs there are.

-- Jobs by lane, kind and state. Triggers keep it, so that it is right whoever changes a job.
CREATE TABLE job_count (
    lane  TEXT NOT NULL,
    kind  TEXT NOT NULL,
    state TEXT NOT NULL,
    jobs  INTEGER NOT NULL CHECK (jobs >= 0),
    PRIMARY KEY (lane, kind, state)
) STRICT, WITHOUT ROWID;
INSERT INTO job_count SELECT lane, kind, state, count(*) FROM job GROUP BY lane, kind, state;

CREATE TRIGGER job_count_added AFTER INSERT ON job BEGIN
    INSERT INTO job_count (lane, kind, state, jobs) VALUES (new.lane, new.kind, new.state, 1)
        ON CONFLICT DO UPDATE SET jobs = jobs + 1;
END;
CREATE TRIGGER job_count_moved AFTER UPDATE OF lane, kind, state ON job
WHEN old.state IS NOT new.state OR old.lane IS NOT new.lane OR old.kind IS NOT new.kind BEGIN
    UPDATE job_count SET jobs = jobs - 1 WHERE lane = old.lane AND kind = old.kind AND state = old.state;
    INSERT INTO job_count (lane, kind, state, jobs) VALUES (new.lane, new.kind, new.state, 1)
        ON CONFLICT DO UPDATE SET jobs = jobs + 1;
END;
CREATE TRIGGER job_count_gone AFTER DELETE ON job BEGIN
    UPDATE job_count SET jobs = jobs - 1 WHERE lane = old.lane AND kind = old.kind AND state = old.state;
END;

-- The newest of one state of one kind, in a lane or in all of them.
CREATE INDEX job_list ON job (kind, state, id);
CREATE INDEX job_list_lane ON job (lane, kind, state, id);
