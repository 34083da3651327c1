import type { Repair } from '../../engine/checks/check.ts';
import type { Transcript } from '../../engine/transcript/reading.ts';
import { findAcceptHeader } from './accept-header.ts';
import { findFatalRequests } from './crash.ts';
import { findAcceptedErrors } from './error-status.ts';
import { findErrorPages } from './error-page.ts';
import { findExpiredKey } from './expired-key.ts';
import { findHealthFaults } from './health.ts';
import { findInvalidJson } from './invalid-json.ts';
import { findMisspelledNames } from './misspelled-fields.ts';
import { findMixedUpUsers } from './mixed-up-users.ts';
import { findUnknownChat } from './unknown-chat.ts';
import { findTransientFailures } from './overlap.ts';
import { findProxyFaults } from './proxy.ts';
import { findRedirects } from './redirect.ts';
import { toRepair } from './seen.ts';
import { findSharedState } from './shared-state.ts';
import { findUnknownFields } from './unknown-fields.ts';
import { findUnreadBodies } from './unread-body.ts';
import { findUnreadRefusals } from './unread-refusal.ts';
import { findUnreadableBodies } from './unreadable-body.ts';
import { findWrappedBodies } from './wrapped-body.ts';

/**
 * Recognizes defects that spoil many responses in the same way, and returns the repair of each. Its
 * description says what was seen where and what to do.
 */
export function diagnoseSandbox(transcript: Transcript): Repair[] {
  return [
    findFatalRequests,
    findUnknownChat,
    findRedirects,
    findSharedState,
    findProxyFaults,
    findAcceptHeader,
    findErrorPages,
    findHealthFaults,
    findExpiredKey,
    findUnknownFields,
    findUnreadRefusals,
    findUnreadBodies,
    findUnreadableBodies,
    findInvalidJson,
    findWrappedBodies,
    findMisspelledNames,
    findAcceptedErrors,
    findMixedUpUsers,
    findTransientFailures,
  ]
    .flatMap((find) => find(transcript))
    .map(toRepair);
}
