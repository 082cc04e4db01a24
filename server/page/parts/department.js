// Departments as proposals: what is typed is completed to one of them; its number is what the server wants.

import { all } from '../api.js';
import { line } from '../text.js';

let known = [];

/** `[value, label]` for a field that proposes. */
export async function departmentOptions() {
	known = await all('/local-departments').catch(() => []);
	return known.map((department) => [line(department.full_name, 80), line([department.short_name, department.region, department.category].filter(Boolean).join(' · '), 80)]);
}

/** The number of the department that somebody named in full, in short or by number; none when there is no such. */
export function departmentId(name) {
	if (!name) return undefined;
	const text = String(name).trim();
	const exact = known.find((department) => line(department.full_name, 80) === text || department.short_name === text || String(department.dept_id) === text);
	// One that is still being typed is not asked for.
	return (exact ?? known.find((department) => department.full_name.includes(text)))?.dept_id;
}
