import type { EndReason } from '../../contract/index.ts';
import type { CallFailed, CallFailure } from '../../voice/call/index.ts';
import { SessionFault } from './simulated-session.ts';

/** What a call that came to nothing makes of its session. */
const endReasons: Record<CallFailure, EndReason> = {
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

/** Why a session can't go on whose call failed. */
export function callFault({ kind, message }: CallFailed): SessionFault {
  const cure = kind === 'unauthorized' ? '; see SANDBOX_KIT_API_KEY' : '';
  return new SessionFault(endReasons[kind], `The call failed: ${message}${cure}.`);
}
