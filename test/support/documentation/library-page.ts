import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../repository.ts';

/** Returns the code blocks of docs/library.md with this text after the fence, such as `ts vitest`. */
export function readBlocks(kind: string): string[] {
  const page = readFileSync(join(ROOT, 'docs/library.md'), 'utf8');
  return [...page.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].flatMap(([, info, text = '']) =>
    info === kind ? [text] : [],
  );
}
