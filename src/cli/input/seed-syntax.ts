import type { YAMLParseError } from 'yaml';

/** What the parser says. */
type ParserFault = Pick<YAMLParseError, 'code' | 'pos' | 'message'>;

/** What is wrong with the syntax of a file, and at which character; a sentence without its end. */
export interface SyntaxFault {
  at: number;
  what: string;
}

/** Why a text is no JSON; undefined where it is. */
export function notJson(text: string, broken: ParserFault): SyntaxFault | undefined {
  if (broken.code === 'DUPLICATE_KEY') return keyTwice(text, broken);
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    const message = error instanceof Error ? error.message : '';
    const [, position] = /at position (\d+)/.exec(message) ?? [];
    const why = message
      .replace(/ in JSON at position .*$/s, '')
      .replace(/, ?(\.\.\.)?".*is not valid JSON$/s, '')
      .replace(/^Unexpected end of JSON input$/, 'unexpected end of the file')
      .replace(/^[A-Z]/, (letter) => letter.toLowerCase());
    const end = text.trimEnd().length;
    const isCutOff = /end of the file/.test(why);
    const at = isCutOff ? end : position === undefined ? broken.pos[0] : Number(position);
    return { at: Math.min(at, Math.max(0, end - 1)), what: `this is not JSON: ${why}` };
  }
}

/** Why a text is no YAML. */
export function notYaml(text: string, broken: ParserFault): SyntaxFault {
  const [at] = broken.pos;
  if (broken.code === 'DUPLICATE_KEY') return keyTwice(text, broken);
  if (broken.code === 'MULTIPLE_DOCS') {
    return { at, what: 'there is a second document; expected one, without a line --- in it' };
  }
  const [what = ''] = broken.message.split('\n');
  const plain = what.replace(/ at line \d+, column \d+/, '').replace(/[.:]+$/, '');
  return { at, what: `this is not YAML: ${plain}` };
}

function keyTwice(text: string, { pos: [at] }: ParserFault): SyntaxFault {
  const [, key = ''] = /^["']?([^"':,\n]{1,100})/.exec(text.slice(at)) ?? [];
  return { at, what: `the key ${key.trim()} stands there twice` };
}
