import { defineArea } from '../../engine/area.ts';
import { usersChecks } from './checks.ts';
import { observeUsers } from './observed.ts';
import { usersProbes } from './probes.ts';
import { usersRequirements } from './requirements.ts';

/** `POST /users` and `DELETE /users/{user_id}`. */
export const users = defineArea({
  name: 'users',
  endpoints: ['create', 'delete'],
  requirements: usersRequirements,
  checks: usersChecks,
  probes: usersProbes,
  observe: observeUsers,
});
