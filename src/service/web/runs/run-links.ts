import type { SessionKind } from '../../store/store.ts';
import { linkTo, type PageContext } from '../frame/page-frame.ts';

/** Returns the path of the page of a run: a deep link without a session. */
export const pathOfRun = (kind: SessionKind, id: string): string =>
  `/${kind === 'production' ? 'production-eval' : 'simulation'}/${encodeURIComponent(id)}`;

/** Returns the link to the page of a scenario. */
export const linkToScenario = (id: string, context: PageContext): string =>
  linkTo(context, `/scenarios/${encodeURIComponent(id)}`);

/** Returns the link to the page of an eval. */
export const linkToEval = (id: string, context: PageContext): string =>
  linkTo(context, '/evals/edit', { id });

/** Returns the link to the sessions of a scenario in a simulation. */
export const linkToScenarioSessions = (
  simulationId: string,
  scenarioId: string,
  context: PageContext,
): string =>
  linkTo(context, '/sessions', {
    kind: 'simulation',
    run_id: simulationId,
    scenario_id: scenarioId,
  });
