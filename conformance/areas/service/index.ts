import { serviceMutants, serviceVariants } from './mutants.ts';
import { authenticationChecks } from './authentication/checks.ts';
import { keys } from './authentication/probes.ts';
import { closeChecks } from './close/checks.ts';
import { conversations, settings } from './close/probes.ts';
import type { ServiceProbe } from './context.ts';
import { clockReset, controlSetup, ingestLog, preflight } from './control-api/probes.ts';
import { conversationChecks } from './conversations/checks.ts';
import { backlog, ids, lateSpans } from './conversations/probes.ts';
import { observeService } from './observed.ts';
import { type ServiceRequirementId, serviceRequirements } from './requirements.ts';
import { productionChecks } from './results/checks/production.ts';
import { simulationChecks } from './results/checks/simulations.ts';
import { manySessions, production, simulations } from './results/probes.ts';
import { CLOCK_RESET_STEP, isStep } from './steps.ts';
import { tracesChecks } from './traces/checks.ts';
import { limits, rate, refusals, unspecified } from './traces/probes.ts';
import { defineArea } from '../../engine/area.ts';
import type { Check } from '../../engine/checks/check.ts';
import { isAccepted, type Transcript } from '../../engine/transcript/reading.ts';
import { resolvePointer } from '../../../src/contract/index.ts';

/** The check of every requirement of the service. */
const checks: Readonly<Record<ServiceRequirementId, Check>> = {
  ...tracesChecks,
  ...authenticationChecks,
  ...closeChecks,
  ...conversationChecks,
  ...productionChecks,
  ...simulationChecks,
};

/** The probes of the service, in the order in which those of a phase start. */
const probes: readonly ServiceProbe[] = [
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

const HOUR_MS = 3_600_000;

/** Warns that the run advanced the service clock and could not reset it. */
function notices({ exchanges }: Transcript): readonly string[] {
  const controls = exchanges.filter(
    (exchange) => exchange.endpoint === 'admin' && isAccepted(exchange),
  );
  if (controls.some((exchange) => isStep(exchange, 'admin', CLOCK_RESET_STEP))) return [];
  const advancedMs = controls
    .map(({ sent }) => resolvePointer(sent, '/advance_ms'))
    .reduce((sum: number, ms) => sum + (typeof ms === 'number' ? ms : 0), 0);
  if (advancedMs === 0) return [];
  const hours = Math.round((advancedMs / HOUR_MS) * 10) / 10;
  return [
    `The run advanced the service clock by ${hours} hours and could not reset it. Restart the service to reset the clock.`,
  ];
}

/** The evaluation service (spec area A). */
export const service = defineArea({
  name: 'service',
  endpoints: ['traces', 'end', 'simulations', 'production', 'admin'],
  requirements: serviceRequirements,
  checks,
  probes,
  observe: observeService,
  notices,
  mutants: serviceMutants,
  variants: serviceVariants,
});
