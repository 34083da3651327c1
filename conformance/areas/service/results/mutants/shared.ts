import type { Mutant, TransformFactory } from '../../../../engine/mutants/mutant.ts';
import type { ServiceRequirementId } from '../../requirements.ts';
import type { ResultsEndpoint } from '../../results-api.ts';
import { fastClock, mutant } from '../../transforms.ts';

/** The rules that both endpoints share, with the requirement of each. */
const sharedRules = {
  response: { production: 'SERVICE-070', simulations: 'SERVICE-130' },
  pageFields: { production: 'SERVICE-071', simulations: 'SERVICE-131' },
  defaults: { production: 'SERVICE-075', simulations: 'SERVICE-132' },
  cap: { production: 'SERVICE-077', simulations: 'SERVICE-133' },
  limits: { production: 'SERVICE-078', simulations: 'SERVICE-134' },
  paging: { production: 'SERVICE-080', simulations: 'SERVICE-135' },
  order: { production: 'SERVICE-081', simulations: 'SERVICE-136' },
  link: { production: 'SERVICE-083', simulations: 'SERVICE-137' },
  times: { production: 'SERVICE-090', simulations: 'SERVICE-141' },
  summary: { production: 'SERVICE-092', simulations: 'SERVICE-142' },
  outcomes: { production: 'SERVICE-093', simulations: 'SERVICE-143' },
  counts: { production: 'SERVICE-094', simulations: 'SERVICE-157' },
  allOutcomes: { production: 'SERVICE-095', simulations: 'SERVICE-158' },
  noTraces: { production: 'SERVICE-097', simulations: 'SERVICE-144' },
  traces: { production: 'SERVICE-098', simulations: 'SERVICE-145' },
  nameFilter: { production: 'SERVICE-110', simulations: 'SERVICE-146' },
  evalFilter: { production: 'SERVICE-111', simulations: 'SERVICE-148' },
  failedFilter: { production: 'SERVICE-112', simulations: 'SERVICE-149' },
  failedOutcomes: { production: 'SERVICE-113', simulations: 'SERVICE-150' },
  failedSummary: { production: 'SERVICE-115', simulations: 'SERVICE-151' },
  failedTotal: { production: 'SERVICE-116', simulations: 'SERVICE-152' },
  startedAfter: { production: 'SERVICE-117', simulations: 'SERVICE-153' },
  startedBefore: { production: 'SERVICE-118', simulations: 'SERVICE-154' },
  owner: { production: 'SERVICE-121', simulations: 'SERVICE-156' },
  rate: { production: 'SERVICE-123', simulations: 'SERVICE-159' },
  sequence: { production: 'SERVICE-124', simulations: 'SERVICE-160' },
  duration: { production: 'SERVICE-125', simulations: 'SERVICE-161' },
} as const satisfies Record<string, Record<ResultsEndpoint, ServiceRequirementId>>;

type SharedRule = keyof typeof sharedRules;

/** Creates a mutant of one endpoint that breaks shared rules. */
export type SharedMutantOf = (
  name: string,
  description: string,
  breaks: SharedRule | readonly SharedRule[],
  transform: TransformFactory,
  options?: Partial<Mutant>,
) => Mutant;

/** Returns the factory for mutants of an endpoint. Their names start with the endpoint. */
export function sharedMutantsOf(endpoint: ResultsEndpoint): SharedMutantOf {
  return (name, description, breaks, transform, options = fastClock) =>
    mutant(
      `${endpoint}-${name}`,
      description,
      [breaks].flat().map((rule: SharedRule) => sharedRules[rule][endpoint]),
      transform,
      options,
    );
}
