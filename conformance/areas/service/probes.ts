import type { ServiceProbe } from './context.ts';
import { keys } from './authentication/probes.ts';
import { clockReset } from './clock.ts';
import { conversations, settings } from './close/probes.ts';
import { controlSetup, ingestLog, preflight } from './control-api/probes.ts';
import { ids } from './ids/probes.ts';
import { limits, refusals, unspecified } from './ingest/probes.ts';
import { backlog, lateSpans } from './late/probes.ts';
import { rate } from './rate/probes.ts';
import { manySessions, production, simulations } from './results/probes.ts';

/** The probes of the service, in the order in which those of a phase start. */
export const serviceProbes: readonly ServiceProbe[] = [
  preflight,
  controlSetup,
  conversations,
  settings,
  lateSpans,
  backlog,
  ids,
  refusals,
  keys,
  unspecified,
  production,
  simulations,
  manySessions,
  ingestLog,
  limits,
  rate,
  clockReset,
];
