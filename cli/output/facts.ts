import { hangingIndent, wrap } from '../../src/report-kit/terminal.ts';

const LABEL_WIDTH = 10;

/**
 * Formats what a server that has started says about itself, such as "  voice     ws://…". A word that
 * is longer than a line, such as a URL, stays whole.
 */
export function formatFact(label: string, text: string, width: number): string[] {
  const start = `  ${label.padEnd(LABEL_WIDTH)}`;
  return hangingIndent(start, wrap(text, width - start.length));
}
