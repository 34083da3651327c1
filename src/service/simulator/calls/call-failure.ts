import type { EndReason } from '../../../contract/index.ts';
import type { CallError, CallFailure } from '../../../voice/call/index.ts';
import { SessionError } from '../session-error.ts';

/** The end reason of a session, by the failure of its call. */
const END_REASONS: Record<CallFailure, EndReason> = {
  unreachable: 'infrastructure_error',
  refused: 'infrastructure_error',
  unauthorized: 'infrastructure_error',
  too_many_calls: 'infrastructure_error',
  no_offer: 'timeout',
  call_error: 'agent_error',
  bad_offer: 'agent_error',
  no_path: 'infrastructure_error',
  no_media: 'agent_error',
  dropped: 'agent_error',
  path_lost: 'infrastructure_error',
  media_stopped: 'agent_error',
  local: 'simulator_error',
};

/** Converts the failure of a call to a session error. */
export function toSessionError({ kind, message }: CallError): SessionError {
  const hint = kind === 'unauthorized' ? '; see SANDBOX_KIT_API_KEY' : '';
  return new SessionError(END_REASONS[kind], `The call failed: ${message}${hint}.`);
}
