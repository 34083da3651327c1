/** The form of messages and help texts: paragraphs of at most 80 characters per line. */
import { wrap } from '../../src/report-kit/terminal.ts';

/** Every message and help text fits this width. */
export const WIDTH = 80;

/** Wraps a paragraph. */
export const fill = (paragraph: string): string => wrap(paragraph, WIDTH).join('\n');
