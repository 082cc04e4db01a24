// An address that leads nowhere.

import { empty, h, put, t } from '../kit.js';

export const nowhere = {
	title: 'nowhere',
	show(place) {
		put(place.root, empty(t('nowhere'), t('nowhere.hint'), h('a.button', { href: '#/' }, t('nav.home'))));
	},
};
