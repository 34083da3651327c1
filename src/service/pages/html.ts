export { html, Html } from '../../shared/html.ts';
