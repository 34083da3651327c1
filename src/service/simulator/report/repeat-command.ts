import type { SimulatedSessionReport, SimulationReport } from '../../../contract/index.ts';
import { formatNumber } from '../../../report-kit/format.ts';
import { quoteText } from '../../../platform/shell.ts';

/** Longer commands are not printed; the JSON report has the request. */
const COMMAND_CHARS_MAX = 1_000;

/**
 * Returns how to send the request of the failed turn of a session again: a POSIX shell command, or
 * where the report has a long request. Undefined if the session has no such turn.
 */
export function describeRepetition(
  { sandbox, hasKey = false }: Pick<SimulationReport, 'sandbox' | 'hasKey'>,
  { failed_turn: failed }: Pick<SimulatedSessionReport, 'failed_turn'>,
): string | undefined {
  if (!failed) return undefined;
  const body = JSON.stringify(failed.request);
  const command = [
    `curl ${quoteText(`${sandbox.replace(/\/+$/, '')}/v1/chat/completions`)}`,
    ...(hasKey ? ['-H "authorization: Bearer $SANDBOX_KIT_API_KEY"'] : []),
    "-H 'content-type: application/json'",
    `--data-raw ${quoteText(body)}`,
  ].join(' ');
  if (command.length <= COMMAND_CHARS_MAX) return command;
  const length = formatNumber(body.length);
  return `--json FILE writes the request of ${length} characters, as failed_turn.request`;
}
