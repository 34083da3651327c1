import {
  advanceSkippedTime,
  isControlRequest,
  notFound,
  withoutControlApi,
} from './foreign-service.ts';
import type { ServiceRequirementId } from '../requirements.ts';
import { filterMutants } from '../results/mutants/filters.ts';
import { errorResponse, fastClock, mutant, variant } from '../transforms.ts';
import {
  chain,
  editAccepted,
  jsonResponse,
  respondInstead,
} from '../../../engine/mutants/combinators.ts';
import type { Mutant, TransformFactory, Variant } from '../../../engine/mutants/mutant.ts';

const foreignMutant = (
  name: string,
  description: string,
  kills: ServiceRequirementId,
  transform: TransformFactory,
): Mutant =>
  mutant(`strange-${name}`, description, kills, withoutControlApi(notFound, transform), fastClock);

/** Replaces the number of queued evals in the responses to first closes. */
const replaceQueued = (count: number): TransformFactory =>
  editAccepted('end', (body) => {
    if (body['already_closed'] === undefined) body['evaluations_queued'] = count;
  });

/** Filter mutants that a run must also detect without a control API. */
const detectableFilters: Readonly<Record<string, ServiceRequirementId>> = {
  'agent-elsewhere': 'SERVICE-146',
  'after-by-end': 'SERVICE-153',
  'before-by-end': 'SERVICE-154',
};

/** Mutants of a service without a control API, which the run knows only by its responses. */
export const foreignServiceMutants: readonly Mutant[] = [
  foreignMutant(
    'queues-less',
    'Reports fewer queued evals than it scores.',
    'SERVICE-122',
    replaceQueued(1),
  ),
  foreignMutant(
    'queues-more',
    'Reports more queued evals than it scores.',
    'SERVICE-122',
    replaceQueued(3),
  ),
  ...filterMutants('simulations').flatMap(({ id, description, transform }) => {
    const name = id.replace('service/simulations-', '');
    const kills = detectableFilters[name];
    return kills === undefined ? [] : [foreignMutant(name, description, kills, transform)];
  }),
];

/** Without a clock that can be advanced, an intrusive run waits for minutes. */
const skipWaiting = { intrusive: true, sleepMsMax: 1_500 } as const;

const htmlPage = {
  status: 200,
  headers: { 'content-type': 'text/html' },
  body: '<!doctype html><title>Console</title><div id="root"></div>',
};

/** Services without a control API, or with an incomplete one. */
export const controlApiVariants: readonly Variant[] = [
  variant(
    'no-control',
    'Has no control API.',
    chain(withoutControlApi(), advanceSkippedTime),
    skipWaiting,
  ),
  variant(
    'control-a-page',
    'Returns an HTML page for every path below /__admin.',
    withoutControlApi(() => htmlPage),
  ),
  variant(
    'control-broken',
    'Has a control API that refuses seed data.',
    withoutControlApi((request) =>
      isControlRequest('health')(request)
        ? jsonResponse(200, { status: 'healthy' })
        : errorResponse(500),
    ),
  ),
  variant(
    'control-no-clock',
    'Has a control API without a clock.',
    chain(respondInstead(isControlRequest('clock'), notFound), advanceSkippedTime),
    skipWaiting,
  ),
];
