// Bars over time, drawn as SVG. The same numbers are there as a table for those who cannot see the drawing.

import { h, svg } from '../dom.js';

const HEIGHT = 120;
const FOOT = 18;
const SIDE = 34;

/**
 * `bars`: `{label, mark?, values: [number…], title, href?}`; `series`: `{name, tone}` in the order of values, from the
 * foot up. `mark` is written below the bar.
 */
export function bars({ bars, series, label, narrow }) {
	// Letters keep their size: what differs is how much room there is beside them.
	const WIDTH = innerWidth < 720 ? 360 : narrow ? 500 : 1000;
	const sums = bars.map((bar) => bar.values.reduce((sum, value) => sum + value, 0));
	const top = ceiling(Math.max(1, ...sums));
	const step = (WIDTH - SIDE) / Math.max(1, bars.length);
	const scale = (value) => (value / top) * (HEIGHT - FOOT - 8);
	const floor = HEIGHT - FOOT;
	const drawn = bars.map((bar, index) => {
		const x = SIDE + index * step;
		let y = floor;
		const boxes = bar.values.map((value, at) => {
			const height = value > 0 ? Math.max(1.5, scale(value)) : 0;
			y -= height;
			return height > 0 ? svg('rect', { class: `fill-${series[at].tone}`, x: x + step * 0.12, y, width: step * 0.76, height, rx: Math.min(2, step * 0.2) }) : null;
		});
		const inner = [
			svg('rect', { class: 'hit', x, y: 0, width: step, height: floor }, svg('title', null, bar.title)),
			boxes,
			bar.mark ? svg('text', { x: x + step / 2, y: HEIGHT - 4, 'text-anchor': 'middle' }, bar.mark) : null,
		];
		return bar.href ? svg('a', { href: bar.href, 'aria-label': bar.title }, inner) : svg('g', null, inner);
	});
	const lines = [0, 0.5, 1].map((part) => {
		const y = floor - scale(top * part);
		return [
			svg('line', { class: part ? 'grid' : 'axis', x1: SIDE, x2: WIDTH, y1: y, y2: y }),
			part ? svg('text', { x: SIDE - 6, y: y + 4, 'text-anchor': 'end' }, about(top * part)) : null,
		];
	});
	return h('figure.chart',
		svg('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': label }, lines, drawn),
		series.length > 1 ? h('figcaption', series.map(({ name, tone }) => h('span.legend', h('i', { class: `dot ${tone}` }), name))) : null,
		h('ul.unseen', bars.map((bar) => h('li', bar.title))),
	);
}

/** A share of something, as a thin bar. */
export function meter(value, most, tone = 'accent') {
	const part = most > 0 ? Math.min(1, Math.max(0, value / most)) : 0;
	return svg(
		'svg',
		{ class: 'meter', viewBox: '0 0 100 6', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
		svg('rect', { class: 'track', width: 100, height: 6, rx: 3 }),
		part > 0 ? svg('rect', { class: `fill-${tone}`, width: Math.max(2, part * 100), height: 6, rx: 3 }) : null,
	);
}

function ceiling(value) {
	const base = 10 ** Math.floor(Math.log10(value));
	const nice = [1, 2, 4, 5, 6, 8, 10].find((factor) => factor * base >= value) ?? 10;
	return Math.max(2, nice * base);
}

function about(value) {
	if (value >= 1e6) return `${value / 1e6}M`;
	return value >= 1e4 ? `${value / 1e3}k` : String(value);
}
