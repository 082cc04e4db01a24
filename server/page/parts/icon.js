// The drawings of the page: one path each, on 24 by 24.

import { svg } from '../dom.js';

const PATHS = {
	home: 'M4 11l8-7 8 7v9h-5v-6H9v6H4z',
	sites: 'M4 6h16v12H4zM4 10h16M8 6v4',
	targets: 'M12 12m-8 0a8 8 0 1016 0 8 8 0 10-16 0M12 12m-3 0a3 3 0 106 0 3 3 0 10-6 0',
	articles: 'M6 4h9l4 4v12H6zM9 11h7M9 15h7M15 4v4h4',
	departments: 'M4 20V9l8-5 8 5v11M9 20v-6h6v6M4 20h16',
	jobs: 'M12 12m-8 0a8 8 0 1016 0 8 8 0 10-16 0M12 7v5l3 2',
	monitoring: 'M3 12h4l3-7 4 14 3-7h4',
	stats: 'M5 20V11M12 20V5M19 20v-6M3 20h18',
	search: 'M11 11m-6 0a6 6 0 1012 0 6 6 0 10-12 0M16 16l4 4',
	sun: 'M12 12m-4 0a4 4 0 108 0 4 4 0 10-8 0M12 3v2M12 19v2M3 12h2M19 12h2M5.6 5.6L7 7M17 17l1.4 1.4M18.4 5.6L17 7M7 17l-1.4 1.4',
	moon: 'M19 14.5A8 8 0 119.5 5a6.5 6.5 0 009.5 9.5z',
	help: 'M12 12m-9 0a9 9 0 1018 0 9 9 0 10-18 0M9.5 9.5a2.5 2.5 0 115 0c0 2-2.5 2-2.5 4M12 17v.5',
	out: 'M14 4h5v16h-5M4 12h11M11 8l4 4-4 4',
	close: 'M6 6l12 12M18 6L6 18',
	play: 'M8 5l11 7-11 7z',
	more: 'M6 12h.01M12 12h.01M18 12h.01',
	file: 'M7 3h7l4 4v14H7zM14 3v4h4',
	warn: 'M12 4l9 16H3zM12 10v4M12 17v.5',
	check: 'M5 12l5 5 9-10',
};

/** A drawing; it says nothing to those who cannot see it, so a word must stand beside it or in a label. */
export function icon(name) {
	return svg(
		'svg',
		{ class: 'icon', viewBox: '0 0 24 24', width: 18, height: 18, 'aria-hidden': 'true', focusable: 'false' },
		svg('path', { d: PATHS[name] ?? '' }),
	);
}
