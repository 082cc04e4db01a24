// Light or dark: as the system says, unless somebody chose.

const KEY = 'dibao.theme';
const system = matchMedia('(prefers-color-scheme: dark)');

/** Sets what was chosen before, or follows the system. */
export function applyTheme() {
	document.documentElement.dataset.theme = isDark() ? 'dark' : 'light';
}

system.addEventListener('change', applyTheme);

/** Whether it is dark now. */
export const isDark = () => (read() ?? (system.matches ? 'dark' : 'light')) === 'dark';

/** Changes to the other. */
export function switchTheme() {
	const next = isDark() ? 'light' : 'dark';
	// What the system says anyway is not remembered, so that it is followed again.
	keep(next === (system.matches ? 'dark' : 'light') ? null : next);
	applyTheme();
}

function read() {
	try {
		return localStorage.getItem(KEY);
	} catch {
		return null;
	}
}

function keep(value) {
	try {
		if (value) localStorage.setItem(KEY, value);
		else localStorage.removeItem(KEY);
	} catch {
		document.documentElement.dataset.theme = value ?? '';
	}
}
