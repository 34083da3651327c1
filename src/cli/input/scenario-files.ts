import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { EvalDefinition, Persona, Scenario } from '../../contract/index.ts';
import { suggestion } from '../../platform/suggest.ts';
import { expressionOf, filesIn, filesOf } from './file-glob.ts';
import { UsageError } from '../flags/usage-error.ts';
import { readYamlFile, type YamlDocument } from './yaml-file.ts';

/** Scenarios from files, with the personas and evals that stand beside them. */
export interface ScenarioSet {
  scenarios: Scenario[];
  personas: Persona[];
  evals: EvalDefinition[];
  /**
   * What is wrong at a place: `/0/user/steps/1` is in the first scenario, `/evals/0/params` in the
   * first eval that stands beside them.
   */
  misfit: (pointer: string, message: string) => UsageError;
}

const FLAG = '--scenario';
const ENDING = '.scenario.yaml';
const EXPECTED =
  "expected a file, a folder or a glob such as 'scenarios/*.scenario.yaml', or ids of the starter set such as 'refund-*'";

/**
 * Reads the scenarios that patterns name, the starter set without any; what they refer to is looked
 * for in `*.persona.yaml` and `*.eval.yaml` of the same folders.
 *
 * @throws {UsageError} with file, line and column where something is wrong, and where nothing matches.
 */
export function readScenarioSet(patterns: readonly string[] | undefined): ScenarioSet {
  const found = patterns ? patterns.flatMap(scenariosOf) : starterSet();
  // Two patterns may name one file.
  const scenarios = [...new Map(found.map((one) => [one.place(''), one])).values()];
  refuseTwins(scenarios);
  const folders = [...new Set(scenarios.map(({ folder }) => folder))];
  const beside = <Name extends 'Persona' | 'EvalDefinition'>(ending: string, name: Name) => {
    const all = folders.flatMap((folder) =>
      filesIn(folder, ending).flatMap((path) => readYamlFile(path, FLAG, name)),
    );
    refuseTwins(all);
    return all;
  };
  const [personas, evals] = [
    beside('.persona.yaml', 'Persona'),
    beside('.eval.yaml', 'EvalDefinition'),
  ];
  return {
    scenarios: scenarios.map(({ value }) => value),
    personas: personas.map(({ value }) => value),
    evals: evals.map(({ value }) => value),
    misfit(pointer, message) {
      const [, kind = '', nth = '', within = ''] =
        /^(\/evals(?=\/\d))?\/(\d+)(.*)$/.exec(pointer) ?? [];
      const document = (kind === '' ? scenarios : evals)[Number(nth)];
      const place = document?.place(within) ?? '';
      return new UsageError(`${FLAG}: ${place}: ${message.replace(`${kind}/${nth}/`, '/')}.`);
    },
  };
}

/**
 * What the users of scenarios say, each from its opening on; those without one are left out.
 *
 * @throws {UsageError} as `readScenarioSet` does.
 */
export function readUserLines(patterns: readonly string[]): string[][] {
  return readScenarioSet(patterns).scenarios.flatMap(({ user }) =>
    user.opening === undefined ? [] : [[user.opening, ...(user.steps ?? []).map((one) => one.say)]],
  );
}

type Placed = YamlDocument<'Scenario'> & { folder: string };

function scenariosOf(pattern: string): Placed[] {
  const files = filesOf(pattern, ENDING);
  if (files.length > 0) return files.flatMap(readScenarios);
  const starters = starterSet();
  const wanted = expressionOf(pattern);
  const named = starters.filter(({ value }) => wanted.test(value.id));
  if (named.length > 0) return named;
  const ids = starters.map(({ value }) => value.id);
  const hint = suggestion(pattern, ids, EXPECTED);
  throw new UsageError(`${FLAG}: nothing matches ${JSON.stringify(pattern)}: ${hint}.`);
}

const readScenarios = (path: string): Placed[] =>
  readYamlFile(path, FLAG, 'Scenario').map((one) => ({ ...one, folder: dirname(path) }));

/** The scenarios that ship with the kit: those of a shop's support agent. */
function starterSet(): Placed[] {
  const require = createRequire(import.meta.url);
  const folder = join(dirname(require.resolve('sandbox-kit/package.json')), 'scenarios', 'shop');
  return filesIn(folder, ENDING).flatMap(readScenarios);
}

function refuseTwins(all: readonly { value: { id: string }; place: (at: string) => string }[]) {
  const places = new Map<string, string>();
  for (const { value, place } of all) {
    const before = places.get(value.id);
    if (before !== undefined) {
      throw new UsageError(
        `${FLAG}: ${place('/id')}: the id ${JSON.stringify(value.id)} is taken already, at ${before}.`,
      );
    }
    places.set(value.id, place('/id'));
  }
}
