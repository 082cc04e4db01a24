// Departments as proposals: what is typed is completed to one of them; its number is what the server wants.

import { all } from '../api.js';
import { line } from '../text.js';
import { t } from '../words.js';
import { empty } from './notice.js';

let known = [];

/** `[value, label]` for a field that proposes. */
export async function departmentOptions() {
	known = await all('/local-departments').catch(() => []);
	return known.map((department) => [line(department.full_name, 80), line([department.short_name, department.region, department.category].filter(Boolean).join(' · '), 80)]);
}

/** The number of the department that is meant: by number, named in full or in short. Undefined: nothing was said; null: there is no such. */
export function departmentId(name) {
	const text = String(name ?? '').trim();
	if (!text) return undefined;
	const one = (of) => known.find((department) => of(department) === text);
	return (one((each) => String(each.dept_id)) ?? one((each) => line(each.full_name, 80)) ?? one((each) => each.short_name))?.dept_id ?? null;
}

const nameOf = (id) => {
	const one = known.find((department) => String(department.dept_id) === String(id));
	return one ? line(one.full_name, 80) : id;
};

/** The filter by department: a name to whoever looks, its number in the address. */
export const departmentFilter = (options) => ({ name: 'dept', label: t('department.any'), type: 'proposing', options, show: nameOf, read: (text) => String(departmentId(text) ?? text) });

/** What stands where a list would, if the department in the address is none. */
export const noDepartment = (query) => departmentId(query.dept) === null && empty(unknown(query.dept), '');

/** The error of a form in which no department is named so. */
export const departmentError = (name) => ({ code: 'invalid', local: true, fields: [{ name: 'dept', message: unknown(name) }] });

const unknown = (name) => t('department.unknown', { name: line(name, 80) });
