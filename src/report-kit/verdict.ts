import { html, type Html } from './html.ts';

/** How good a result is; decides its color. */
export type Standing = 'pass' | 'fail' | 'warn';

/**
 * Renders a verdict as a badge with a shape, a word, and a color. All pages and reports show verdicts this way.
 * @param className A standing, or a verdict whose class has a color, such as `undecided`.
 * @param word What the badge says (default: the class).
 */
export const renderVerdict = (className: string, word = className): Html =>
  html`<b class="badge ${className}">${word}</b>`;

const GOOD = ':is(.pass, .passed)';
const BAD = ':is(.fail, .failed, .error)';
const OPEN = ':is(.warn, .undecided, .unknown, .blocked, .errored)';

/** CSS rules of verdicts. The shape tells them apart without their color; screen readers skip it. */
export const VERDICT_CSS = `
${GOOD} { color: var(--good); } ${BAD} { color: var(--bad); } ${OPEN} { color: var(--warn); }
.note { color: var(--note); }
.badge { background: color-mix(in srgb, currentColor 9%, var(--page)); border: 1px solid;
  border-radius: 1rem; display: inline-block; font-size: 0.8125rem; font-weight: 600;
  line-height: 1.4; max-width: 100%; padding: 0 0.55rem; text-decoration: none; }
.badge::before { content: '–\u00a0' / ''; } .badge${GOOD}::before { content: '✓\u00a0' / ''; }
.badge${BAD}::before { content: '✗\u00a0' / ''; }
.badge${OPEN}::before { content: '?\u00a0' / ''; } .badge.note::before { content: 'i\u00a0' / ''; }
h1 > .badge { border-radius: 0.6rem; font-size: 1.375rem; line-height: 1.3; padding: 0.1rem 0.75rem; }
:is(.verdict, .ready) > .badge { font-size: 1rem; }
`;
