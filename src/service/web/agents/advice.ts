import { formatList } from '../../../report-kit/format.ts';
import { html, withCode, type Html } from '../../../report-kit/html.ts';

/** The name of an option, such as --rate. */
const OPTION = /(?<![\w-])--[a-z][a-z-]*/g;

const ofLoad = (label: string): string => `“${label}” of a load test`;
const ofAgent = (label: string): string => `“${label}” in the settings of the agent`;

/** The fields of pages that do what options of the command line do. */
const FIELDS: Readonly<Record<string, string>> = {
  '--rate': ofLoad('Requests per second'),
  '--duration': ofLoad('Duration in seconds'),
  '--profile': ofLoad('Traffic'),
  '--api-key-file': ofAgent('API key'),
  '--voice-url': ofAgent('Voice URL'),
};

/**
 * Renders advice from a report. It may name options of the command line, so it says which field of a
 * page does the same, or that none does, unless it shows a whole command.
 */
export function renderAdvice(text: string): Html {
  const options = [...new Set(text.match(OPTION))];
  if (options.length === 0 || /sandbox-kit [a-z]/.test(text)) return withCode(text);
  const fields = options.flatMap((option) => {
    const field = FIELDS[option];
    return field === undefined ? [] : `${option} is ${field}`;
  });
  const others = options.filter((option) => FIELDS[option] === undefined);
  return html`${withCode(text)}
    <span class="soft"
      >${fields.length > 0 && `On these pages, ${formatList(fields)}.`}
      ${
        others.length > 0 &&
        `No page sets ${formatList(others)}: run the command with it, and upload its report here.`
      }</span
    >`;
}
