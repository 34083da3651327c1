import { createArea } from '../../engine/area.ts';
import { listTried } from '../../engine/sweep/tried.ts';
import { usersNotices } from './absence.ts';
import { concurrentRequests } from './concurrent-requests.ts';
import { createRequests } from './create-requests.ts';
import { createResponse } from './create-response.ts';
import { deletion } from './delete.ts';
import { errors } from './errors.ts';
import { newUsers } from './new-users.ts';
import { observeUsers } from './observed.ts';
import { usersProbes } from './probes.ts';
import { processes } from './processes.ts';
import { duplicates, malformed } from './refusals.ts';
import { userProperties } from './request-properties.ts';
import { silences } from './silences.ts';

/** `POST /users` and `DELETE /users/{user_id}`. */
export const users = createArea({
  name: 'users',
  endpoints: ['create', 'delete'],
  subjects: [
    createRequests,
    newUsers,
    createResponse,
    deletion,
    processes,
    malformed,
    duplicates,
    concurrentRequests,
    errors,
    silences,
  ],
  probes: usersProbes,
  legalFor: ['chat', 'users'],
  observe: observeUsers,
  listTried: (transcript) => listTried('create', userProperties, transcript),
  notices: usersNotices,
});
