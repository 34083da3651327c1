/** The words for what the parsers of YAML and JSON refuse. */
import type { YAMLParseError } from 'yaml';
import { errorMessage } from '../../src/platform/error-origin.ts';

/** A syntax error: its offset, and a sentence without a full stop. */
export interface SyntaxProblem {
  at: number;
  message: string;
}

/** Describes why a text is neither YAML nor JSON. */
export function describeSyntaxError(
  text: string,
  { code, pos, message }: Pick<YAMLParseError, 'code' | 'pos' | 'message'>,
  isJson: boolean,
): SyntaxProblem {
  const [at] = pos;
  if (code === 'DUPLICATE_KEY') {
    const [, key = ''] = /^["']?([^"':,\n]{1,100})/.exec(text.slice(at)) ?? [];
    return { at, message: `Duplicate key ${key.trim()}` };
  }
  if (isJson) {
    try {
      JSON.parse(text);
    } catch (error) {
      return describeJsonError(text, errorMessage(error), at);
    }
  }
  if (code === 'MULTIPLE_DOCS') {
    return { at, message: 'The file contains a second document. Remove the --- line' };
  }
  const [first = ''] = message.split('\n');
  const reason = first.replace(/ at line \d+, column \d+/, '').replace(/[.:]+$/, '');
  return { at, message: `Invalid YAML: ${reason}` };
}

/** Words an error of `JSON.parse` without the quoted source that Node adds to it. */
export function describeJsonError(
  text: string,
  nodeMessage: string,
  fallbackAt: number,
): SyntaxProblem {
  const [, position] = /at position (\d+)/.exec(nodeMessage) ?? [];
  const isCut = nodeMessage === 'Unexpected end of JSON input';
  const reason = nodeMessage
    .replace(/ in JSON at position .*$/s, '')
    .replace(/, ?(\.\.\.)?".*is not valid JSON$/s, '')
    .replace(/^[A-Z]/, (letter) => letter.toLowerCase());
  const end = text.trimEnd().length;
  const at = isCut ? end : Number(position ?? fallbackAt);
  const message = `Invalid JSON: ${isCut ? 'unexpected end of file' : reason}`;
  return { at: Math.min(at, Math.max(0, end - 1)), message };
}

/** Describes why the aliases of a document can't be resolved. */
export function describeAliasError(error: unknown): string {
  const [, alias] = /alias[^:]*: (\S+)/.exec(errorMessage(error)) ?? [];
  return alias === undefined
    ? 'The aliases expand to too many values. Write the values out'
    : `Unknown alias *${alias}: no anchor &${alias} before it`;
}
