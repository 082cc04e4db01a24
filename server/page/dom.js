// Makes elements. What comes from outside only ever becomes a text node or the value of a harmless attribute: there is
// no way here to have a string read as markup, as a style or as a script.

const SVG = 'http://www.w3.org/2000/svg';
const REFUSED = new Set(['style', 'srcdoc', 'innerHTML', 'outerHTML', 'formaction']);
const PROPERTIES = new Set(['value', 'checked', 'indeterminate', 'disabled', 'open', 'selected']);

/** An element: `h('a.button', {href: '#/', onclick: f}, 'text', node, [more])`; what it is not given properties for may leave them out. */
export function h(name, props, ...children) {
	const [tag, ...classes] = name.split('.');
	const node = document.createElement(tag);
	node.classList.add(...classes);
	if (tag === 'button') node.type = 'button';
	const plain = props?.constructor === Object;
	return fill(node, plain ? props : null, plain ? children : [props, children]);
}

/** The same for drawings. */
export function svg(name, props, ...children) {
	return fill(document.createElementNS(SVG, name), props, children);
}

/** Replaces what is in a node. */
export function put(node, ...children) {
	node.replaceChildren();
	return add(node, children);
}

/** Adds to a node. */
export function add(node, children) {
	for (const child of [children].flat(Infinity)) {
		if (child === undefined || child === null || child === false || child === '') continue;
		node.append(child instanceof Node ? child : document.createTextNode(String(child)));
	}
	return node;
}

function fill(node, props, children) {
	const later = [];
	for (const [key, value] of Object.entries(props ?? {})) {
		if (value === undefined || value === null || value === false) continue;
		if (REFUSED.has(key)) throw new Error(`${key} is not set from here`);
		if (typeof value === 'function') node.addEventListener(key.slice(2), value);
		else if (key === 'key') node.dataset.key = value;
		else if (key === 'data') Object.assign(node.dataset, value);
		else if (PROPERTIES.has(key)) later.push([key, value]);
		else if (key === 'class') node.classList.add(...String(value).split(' ').filter(Boolean));
		else node.setAttribute(key, value === true ? '' : value);
	}
	add(node, children);
	// A <select> takes its value only once its options are there.
	for (const [key, value] of later) node[key] = value;
	return node;
}

/** Does something that replaces nodes, and gives the focus back to the one with the same `data-key`. */
export function keepingFocus(root, change) {
	const active = document.activeElement;
	const inside = root.contains(active) ? active : null;
	const key = inside?.dataset.key;
	const [from, to] = inside && 'selectionStart' in inside ? [inside.selectionStart, inside.selectionEnd] : [];
	change();
	if (!key || root.contains(document.activeElement)) return;
	const again = [...root.querySelectorAll('[data-key]')].find((node) => node.dataset.key === key);
	again?.focus({ preventScroll: true });
	if (again && from !== null && from !== undefined) again.setSelectionRange?.(from, to);
}

/** Calls only once things have been quiet for a while, but at least every `most` milliseconds. */
export function settled(call, quiet = 400, most = 2000) {
	let timer = 0;
	let since = 0;
	return () => {
		const now = Date.now();
		since ||= now;
		clearTimeout(timer);
		timer = setTimeout(() => {
			since = 0;
			call();
		}, Math.max(0, Math.min(quiet, since + most - now)));
	};
}
