import type { SimulatedSessionReport, SimulationReport } from '../../../contract/index.ts';
import { formatChatCommand } from '../../domain/chat-command.ts';

/**
 * Returns the POSIX shell command that sends the request of the failed turn of a session again; undefined
 * if the session has no such turn, or the command is long.
 */
export const formatTurnCommand = (
  { sandbox, hasKey = false }: Pick<SimulationReport, 'sandbox' | 'hasKey'>,
  { failed_turn: failed }: Pick<SimulatedSessionReport, 'failed_turn'>,
): string | undefined => failed && formatChatCommand({ url: sandbox, hasKey }, failed.request);
