import { defineArea } from '../../engine/area.ts';
import { isAbsent, usersChecks } from './checks.ts';
import { observeUsers } from './observed.ts';
import { usersProbes } from './probes.ts';
import { usersRequirements } from './requirements.ts';
import type { Transcript } from '../../engine/transcript/transcript.ts';

/** Says which optional endpoints were not judged because the sandbox doesn't implement them. */
function usersNotices(
  transcript: Transcript,
  { isBlocked }: { isBlocked: boolean },
): readonly string[] {
  if (isBlocked || !transcript.run.areas.includes('users')) return [];
  if (isAbsent('create', transcript)) {
    return ["Users were not judged: the sandbox doesn't implement POST /users, which is optional."];
  }
  return isAbsent('delete', transcript)
    ? [
        "Deleting users was not judged: the sandbox doesn't implement DELETE /users/{user_id}, which is optional. The users that this check created still exist.",
      ]
    : [];
}

/** `POST /users` and `DELETE /users/{user_id}`. */
export const users = defineArea({
  name: 'users',
  endpoints: ['create', 'delete'],
  requirements: usersRequirements,
  checks: usersChecks,
  probes: usersProbes,
  observe: observeUsers,
  notices: usersNotices,
});
