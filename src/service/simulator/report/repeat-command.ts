import type { SimulatedSessionReport, SimulationReport } from '../../../contract/index.ts';
import { quoteText } from '../../../platform/shell.ts';

/** Longer commands are not printed. */
const COMMAND_CHARS_MAX = 1_000;

/**
 * Returns the POSIX shell command that sends the request of the failed turn of a session again; undefined
 * if the session has no such turn, or the command is long.
 */
export function formatTurnCommand(
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
  return command.length <= COMMAND_CHARS_MAX ? command : undefined;
}
