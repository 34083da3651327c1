import { editAccepted } from '../../../engine/mutants/combinators.ts';
import type { Mutant, TransformFactory } from '../../../engine/mutants/mutant.ts';
import type { ServiceRequirementId } from '../requirements.ts';
import { filterMutants } from '../results/mutants/filters.ts';
import { fastClock, mutant } from '../transforms.ts';
import { notFound, withoutControlApi } from './foreign-service.ts';

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
