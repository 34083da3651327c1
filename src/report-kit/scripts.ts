/** Scripts of pages: files of `shipped/browser/`, which run one after the other in one scope. */
import { readFileSync } from 'node:fs';
import { shippedPath } from '../platform/shipped-path.ts';

/** The name of a file of `shipped/browser/`. */
export type ScriptName =
  | 'find-elements'
  | 'label-tables'
  | 'search-rows'
  | 'play-timelines'
  | 'live-parts'
  | 'keyboard'
  | 'send-with-enter'
  | 'call-levels'
  | 'call'
  | 'call-page';

const texts = new Map<ScriptName, string>();

/** Returns the text of scripts, in this order. Each file is read only once. */
export const readScripts = (names: readonly ScriptName[]): string => names.map(readScript).join('');

function readScript(name: ScriptName): string {
  const text =
    texts.get(name) ?? shorten(readFileSync(shippedPath('browser', `${name}.js`), 'utf8'));
  texts.set(name, text);
  return text;
}

/** Removes indents, and comments at the start of a line: half of the text. */
const shorten = (script: string): string =>
  script.replaceAll(/^\s*(?:\/\*\*[^]*?\*\/\s*|\/\/.*\s*)*/gm, '');
