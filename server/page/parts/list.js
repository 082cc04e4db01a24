// One page of a list that the server cuts into pages, with its filters in the address and kept true by events.

import { h, keepingFocus, put } from '../dom.js';
import { reloadOn } from '../live.js';
import { into, problem } from './notice.js';
import { pager, table } from './table.js';

const PAGE = 50;

/** Shows what `ask()` brings in `root`, again whenever one of these events makes it stale. Returns how to do it again. */
export function shown(place, root, ask, draw, events) {
	const load = () => into(root, ask(), draw, load);
	load();
	if (events) reloadOn(events, load, place.signal);
	return load;
}

/**
 * Shows `where` with the filters of the place. `draw(answer)` gives what `table` wants; `events`: which events make it
 * stale; a `query` that gives null asks nobody: nothing is found. Returns `{node, reload, answer()}`.
 */
export function list(place, { where, query, events, draw, limit = PAGE, after }) {
	const root = h('div.card.flush.list');
	let answer = null;
	let turn = 0;
	const ask = () => {
		const wanted = query ? query(place.query) : place.query;
		return wanted && { ...wanted, limit, offset: Number(place.query.offset) || 0 };
	};
	const show = () => {
		keepingFocus(root, () =>
			put(
				root,
				table(draw(answer)),
				answer.total > answer.items.length || answer.offset > 0
					? pager({ total: answer.total, offset: answer.offset, limit, shown: answer.items.length, link: (offset) => place.link({ offset: offset || null }) })
					: null,
			),
		);
		after?.(answer);
	};
	const reload = async () => {
		const mine = (turn += 1);
		const wanted = ask();
		const told = wanted ? place.get(where, wanted) : Promise.resolve({ items: [], total: 0, offset: 0 });
		if (!answer) {
			await into(root, told, (value) => void ((answer = value), show()), reload);
			return;
		}
		try {
			const value = await told;
			// An answer that was overtaken by a later question is not shown.
			if (mine !== turn) return;
			answer = value;
			show();
		} catch (error) {
			if (error.name !== 'AbortError' && mine === turn) put(root, problem(error, reload));
		}
	};
	place.onquery(reload);
	reloadOn(events, reload, place.signal);
	reload();
	return { node: root, reload, redraw: () => answer && show(), answer: () => answer };
}
