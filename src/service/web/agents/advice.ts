import { html, withCode, type Html } from '../../../report-kit/html.ts';

/** The name of an option, such as --rate. */
const OPTION = /(?<![\w-])--[a-z]/;

/**
 * Renders advice from a report. It may name options of the command line, which a page does not have, so it
 * says where they belong, unless it shows a whole command.
 */
export const renderAdvice = (text: string): Html =>
  OPTION.test(text) && !/sandbox-kit [a-z]/.test(text)
    ? html`${withCode(text)}
        <span class="soft">Options belong to sandbox-kit on the command line.</span>`
    : withCode(text);
