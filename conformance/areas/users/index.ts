import { createArea } from '../../engine/area.ts';
import { createdRequirements } from './created.ts';
import { afterProbe, creationRequirements, formsProbe, preflightProbe } from './creation.ts';
import { cleanupProbe, deletionRequirements } from './deletion.ts';
import { errorRequirements, silencesProbe } from './errors.ts';
import { observeUsers } from './observed.ts';
import { usersNotices } from './optional.ts';
import { refusalRequirements, refusalsProbe } from './refusals.ts';

/** `POST /users` and `DELETE /users/{user_id}`. */
export const users = createArea({
  name: 'users',
  endpoints: ['create', 'delete'],
  requirements: [
    creationRequirements,
    createdRequirements,
    deletionRequirements,
    refusalRequirements,
    errorRequirements,
  ],
  probes: [preflightProbe, formsProbe, refusalsProbe, silencesProbe, afterProbe, cleanupProbe],
  legalFor: ['chat', 'users'],
  observe: observeUsers,
  notices: usersNotices,
});
