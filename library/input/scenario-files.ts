import { dirname } from 'node:path';
import type { EvalDefinition, Persona, Scenario } from '../../src/contract/index.ts';
import { createFileError, SandboxKitError } from '../../src/platform/sandbox-kit-error.ts';
import { shippedPath } from '../../src/platform/shipped-path.ts';
import { didYouMean } from '../../src/platform/suggest.ts';
import {
  DEFAULT_SET,
  SCENARIO_SETS,
  type ScenarioSetName,
} from '../../src/service/simulator/options.ts';
import { readYamlFile, type YamlDocument } from './documents.ts';
import { findFiles, globToRegExp, listFiles } from './find-files.ts';
import { withShippedPersonas } from './personas.ts';

/**
 * Scenarios from files, the personas and evals in the same directories, and the personas that the
 * package contains.
 */
export interface ScenarioSet {
  scenarios: Scenario[];
  personas: Persona[];
  evals: EvalDefinition[];
  /**
   * Creates an error about places: `/0/user/steps/1` is in the first scenario, `/evals/0/params` in
   * the first eval of the directories. A problem is a sentence without a full stop.
   */
  errorAt: (problems: readonly { pointer: string; problem: string }[]) => SandboxKitError;
}

/** The option that names the files, as the CLI shows it. */
const CLI_OPTION = '--scenario';
const SCENARIO_SUFFIX = '.scenario.yaml';
const EXPECTED =
  "Expected a file, a directory, a glob such as 'scenarios/*.scenario.yaml', or ids of shipped scenarios such as 'refund-*'.";

/**
 * Reads the scenarios that match the patterns, or those of a shipped set. Their personas and evals
 * come from `*.persona.yaml` and `*.eval.yaml` in the same directories.
 *
 * @param option The option that messages name.
 * @throws {SandboxKitError} with path, line, and column of all problems if a file is invalid, or if
 *   nothing matches.
 */
export function readScenarioSet(
  selection: readonly string[] | ScenarioSetName,
  option = CLI_OPTION,
): ScenarioSet {
  const problems: string[] = [];
  const context = { option, problems };
  const matches =
    typeof selection === 'string'
      ? readShippedScenarios(selection, context)
      : selection.flatMap((pattern) => findScenarios(pattern, context));
  // Two patterns can match one file.
  const scenarios = [...new Map(matches.map((match) => [match.locate(''), match])).values()];
  rejectDuplicateIds(scenarios);
  const directories = [...new Set(scenarios.map(({ directory }) => directory))];
  const readAll = <Name extends 'Persona' | 'EvalDefinition'>(suffix: string, name: Name) => {
    const all = directories.flatMap((directory) =>
      listFiles(directory, suffix).flatMap((path) => readYamlFile(path, { ...context, name })),
    );
    rejectDuplicateIds(all);
    return all;
  };
  const personas = readAll('.persona.yaml', 'Persona');
  const evals = readAll('.eval.yaml', 'EvalDefinition');
  if (problems.length > 0) throw createFileError(problems);
  return {
    scenarios: scenarios.map(({ value }) => value),
    personas: withShippedPersonas(personas.map(({ value }) => value)),
    evals: evals.map(({ value }) => value),
    errorAt: (found) =>
      createFileError(
        found.map(({ pointer, problem }) => {
          const [, kind = '', index = '', rest = ''] =
            /^(\/evals(?=\/\d))?\/(\d+)(.*)$/.exec(pointer) ?? [];
          const document = (kind === '' ? scenarios : evals)[Number(index)];
          // In the message, pointers are also relative to the document.
          const message = problem
            .replace(new RegExp(`^${kind}/${index}/`), '/')
            .replace(new RegExp(`^/${index} `), 'The scenario ');
          return `${document?.locate(rest) ?? option}: ${message}`;
        }),
      ),
  };
}

/** Which scenarios a run uses. */
export interface ScenarioSelection {
  /** Files, globs, or ids of shipped scenarios. */
  patterns: readonly string[] | undefined;
  /** The shipped set, unless there are patterns. */
  set: ScenarioSetName | undefined;
  byVoice: boolean;
}

/**
 * Reads the scenarios of a run. By voice, a shipped set leaves out what only chat can do, such as a
 * blank message.
 *
 * @throws {SandboxKitError} as `readScenarioSet` does.
 */
export function selectScenarios(
  { patterns, set = DEFAULT_SET, byVoice }: ScenarioSelection,
  option = CLI_OPTION,
): ScenarioSet {
  if (patterns) return readScenarioSet(patterns, option);
  const all = readScenarioSet(set, option);
  if (!byVoice) return all;
  return { ...all, scenarios: all.scenarios.filter(({ channel }) => channel !== 'chat') };
}

/**
 * Returns the lines that the users of scenarios say, the opening first. Scenarios without an opening
 * are skipped.
 *
 * @throws {SandboxKitError} as `readScenarioSet` does.
 */
export function readUserLines(patterns: readonly string[]): string[][] {
  return readScenarioSet(patterns).scenarios.flatMap(({ user: { opening, steps = [] } }) =>
    opening === undefined ? [] : [[opening, ...steps.map(({ say }) => say)]],
  );
}

type LocatedScenario = YamlDocument<'Scenario'> & { directory: string };

/** What the readers of files share. */
interface ReadContext {
  option: string;
  /** Receives the problems of all files. */
  problems: string[];
}

function findScenarios(pattern: string, context: ReadContext): LocatedScenario[] {
  const { option } = context;
  const files = findFiles(pattern, SCENARIO_SUFFIX);
  if (files.length > 0) return files.flatMap((path) => readScenarios(path, context));
  const shipped = SCENARIO_SETS.flatMap((name) => readShippedScenarios(name, context));
  const expression = globToRegExp(pattern);
  const matches = shipped.filter(({ value }) => expression.test(value.id));
  if (matches.length > 0) return matches;
  const ids = shipped.map(({ value }) => value.id);
  const hint = didYouMean(pattern, ids, EXPECTED);
  throw new SandboxKitError(
    'unreadable_file',
    `No scenario matches ${JSON.stringify(pattern)} (${option}). ${hint}`,
  );
}

function readScenarios(path: string, context: ReadContext): LocatedScenario[] {
  return readYamlFile(path, { ...context, name: 'Scenario' }).map((document) => ({
    ...document,
    directory: dirname(path),
  }));
}

/** Reads a set of scenarios that the package contains. */
function readShippedScenarios(name: ScenarioSetName, context: ReadContext): LocatedScenario[] {
  return listFiles(shippedPath('scenarios', name), SCENARIO_SUFFIX).flatMap((path) =>
    readScenarios(path, context),
  );
}

function rejectDuplicateIds(
  documents: readonly { value: { id: string }; locate: (pointer: string) => string }[],
): void {
  const places = new Map<string, string>();
  for (const { value, locate } of documents) {
    const place = locate('/id');
    const first = places.get(value.id);
    if (first !== undefined) {
      throw new SandboxKitError(
        'invalid_file',
        `${place}: Duplicate id ${JSON.stringify(value.id)}, first at ${first}.`,
      );
    }
    places.set(value.id, place);
  }
}
