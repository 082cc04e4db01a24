// Everything pages are made of, in one place to import from.

export * from './api.js';
export * from './dom.js';
export * from './live.js';
export * from './parts/chart.js';
export * from './parts/department.js';
export * from './parts/dialog.js';
export * from './parts/discover.js';
export * from './parts/explain.js';
export * from './parts/field.js';
export * from './parts/filters.js';
export * from './parts/head.js';
export * from './parts/health.js';
export * from './parts/list.js';
export * from './parts/mark.js';
export * from './parts/notice.js';
export * from './parts/schedule.js';
export * from './parts/table.js';
export * from './parts/work.js';
export * from './route.js';
export * from './session.js';
export * from './text.js';
export * from './when.js';
export * from './words.js';
