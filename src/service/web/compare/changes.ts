import type { EvalDefinition } from '../../../contract/index.ts';
import { formatList } from '../../../report-kit/format.ts';
import type { Side } from './load-comparison.ts';

/** Something that is not the same in two runs. */
export interface Change {
  name: string;
  before: string;
  after: string;
}

/** A key with more values is different in every session, such as an id. */
const VALUES_MAX = 5;
/** The most changes of one kind. */
const CHANGES_MAX = 30;

/** Lists what differs between two runs and may explain their results. Times are not in the list. */
export function listChanges(before: Side, after: Side): Change[] {
  return [
    ...compare('Agent', before, after, describeAgents),
    ...compare('Model', before, after, ({ traits }) => formatList(traits.models, VALUES_MAX)),
    ...compareTags(before, after),
    ...compare('Channel', before, after, ({ plan }) => plan?.channel ?? ''),
    ...compare('Seed', before, after, ({ plan }) => plan?.seed ?? ''),
    ...compare('Samples', before, after, ({ plan }) => String(plan?.samples ?? '')),
    ...listScenarioChanges(before, after),
    ...listEvalChanges(before, after),
  ];
}

function compare(
  name: string,
  before: Side,
  after: Side,
  describe: (side: Side) => string,
): Change[] {
  const [earlier, later] = [describe(before), describe(after)];
  return earlier === later ? [] : [{ name, before: earlier, after: later }];
}

function describeAgents({ traits, plan }: Side): string {
  const agents = plan ? [plan.agent] : traits.agents;
  const names = agents.map(({ name, url }) => (url === '' ? name : `${name} at ${url}`));
  return formatList(names, VALUES_MAX);
}

/** Compares the tags that have few values in both runs. */
function compareTags(before: Side, after: Side): Change[] {
  const valuesOf = ({ traits }: Side, key: string): readonly string[] =>
    traits.tags.find((tag) => tag.key === key)?.values ?? [];
  const keys = new Set([...before.traits.tags, ...after.traits.tags].map(({ key }) => key));
  return [...keys]
    .flatMap((key) => {
      const [earlier, later] = [valuesOf(before, key), valuesOf(after, key)];
      if (Math.max(earlier.length, later.length) > VALUES_MAX) return [];
      return compare(`Tag ${key}`, before, after, (side) => formatList(valuesOf(side, key)));
    })
    .slice(0, CHANGES_MAX);
}

/** Compares the parts of the scenarios that both runs have, without their evals. */
function listScenarioChanges(before: Side, after: Side): Change[] {
  const earlierById = new Map(
    (before.plan?.scenarios ?? []).map((resolved) => [resolved.scenario.id, resolved]),
  );
  return (after.plan?.scenarios ?? [])
    .flatMap(({ scenario, persona }) => {
      const earlier = earlierById.get(scenario.id);
      if (!earlier) return [];
      const withoutEvals = { evals: undefined };
      return compareParts(
        `Scenario ${scenario.id}`,
        { ...earlier.scenario, persona: earlier.persona, ...withoutEvals },
        { ...scenario, persona, ...withoutEvals },
      );
    })
    .slice(0, CHANGES_MAX);
}

function listEvalChanges(before: Side, after: Side): Change[] {
  const listEvals = ({ plan, traits }: Side): readonly EvalDefinition[] =>
    plan ? plan.scenarios.flatMap(({ evals }) => evals) : traits.evals;
  const earlierById = new Map(listEvals(before).map((definition) => [definition.id, definition]));
  const laterById = new Map(listEvals(after).map((definition) => [definition.id, definition]));
  return [...laterById]
    .flatMap(([id, definition]) => {
      const earlier = earlierById.get(id);
      return earlier ? compareParts(`Eval ${definition.name}`, earlier, definition) : [];
    })
    .slice(0, CHANGES_MAX);
}

/** Compares the fields of two documents. */
function compareParts(name: string, before: object, after: object): Change[] {
  const [earlier, later] = [before, after].map(
    (document) =>
      new Map(Object.entries(document).map(([key, value]) => [key, JSON.stringify(value)])),
  );
  const keys = new Set([...(earlier?.keys() ?? []), ...(later?.keys() ?? [])]);
  return [...keys].flatMap((key) => {
    const [old, changed] = [earlier?.get(key) ?? '', later?.get(key) ?? ''];
    return old === changed ? [] : [{ name: `${name}: ${key}`, before: old, after: changed }];
  });
}
