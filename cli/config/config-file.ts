/** Reads a configuration file. Every error names the file, the line, and the column. */
import { isAlias, isMap, isScalar, isSeq, type Document, type Scalar, type YAMLMap } from 'yaml';
import type { CommandDescription } from '../command.ts';
import { findClosest } from '../../src/platform/suggest.ts';
import type { SandboxKitError } from '../errors.ts';
import { readVariable } from '../flags/environment.ts';
import { readNumber } from '../flags/command-line.ts';
import type { Option } from '../../src/options/option.ts';
import { describeIssue, expectedOf } from '../flags/parse.ts';
import type { Variables } from '../process.ts';
import { readYamlSource, type YamlSource } from '../../library/input/documents.ts';
import {
  hasReference,
  isReferenceOnly,
  InvalidReferenceError,
  replaceReferences,
} from './references.ts';
import { settingsOf, sharedSettingsOf, toKey, type Setting, type Settings } from './settings.ts';

/** A value of the file. */
export interface ConfigValue {
  setting: Setting;
  /** The key with its section, such as `check.rate`. */
  path: string;
  /**
   * Returns the value in the form in which the command line passes it.
   *
   * @throws {SandboxKitError} if an environment variable that it names is unset or has an invalid value.
   */
  read: () => unknown;
}

/** A configuration file. Its keys, and its values without references, are valid. */
export interface ConfigFile {
  shared: readonly ConfigValue[];
  /** The values of each section by the name of the command. */
  sections: ReadonlyMap<string, readonly ConfigValue[]>;
}

/**
 * Reads a configuration file and checks its keys and its values without references. A value with a
 * reference to an environment variable is checked when a command uses it.
 *
 * @throws {SandboxKitError} with the position of the error.
 */
export function readConfigFile(
  path: string,
  commands: readonly CommandDescription[],
  env: Variables,
): ConfigFile {
  const source = readYamlSource(path, '--config');
  const { document } = source;
  const shared = sharedSettingsOf(commands);
  const commandByKey = new Map(commands.map((command) => [toKey(command.name), command]));
  const values: ConfigValue[] = [];
  const sections = new Map<string, readonly ConfigValue[]>();
  const root = document.contents;
  if (root === null || (isScalar(root) && root.value === null)) return { shared: values, sections };
  if (!isMap(root)) throw source.errorAt(0, 'The file must be a mapping, such as url: http://….');
  for (const { key, at, node } of pairsOf(root, source)) {
    const command = commandByKey.get(key);
    const setting = shared.get(key);
    if (key === '$schema') continue;
    if (command) sections.set(command.name, readSection(command, key, { at, node, source, env }));
    else if (setting) values.push(readValue(setting, key, { at, node, source, env }));
    else {
      const known = [...commandByKey.keys(), ...shared.keys()];
      const owners = commands.filter((each) => settingsOf(each).has(toKey(key)));
      throw source.errorAt(
        at,
        describeUnknown(
          key,
          known,
          owners.map(({ name }) => toKey(name)),
        ),
      );
    }
  }
  return { shared: values, sections };
}

/** A value in the file, and the offset of its key. */
interface Place {
  at: number;
  node: unknown;
  source: YamlSource;
  /** The environment variables to which the value can refer. */
  env: Variables;
}

function readSection(
  command: CommandDescription,
  section: string,
  { at, node, source, env }: Place,
): ConfigValue[] {
  if (node === null || (isScalar(node) && node.value === null)) return [];
  if (!isMap(node)) {
    throw source.errorAt(at, `\`${section}\` must be a mapping with the options of the command.`);
  }
  const settings: Settings = settingsOf(command);
  return pairsOf(node, source).map((pair) => {
    const setting = settings.get(pair.key);
    if (!setting)
      throw source.errorAt(pair.at, describeUnknown(pair.key, [...settings.keys()], []));
    return readValue(setting, `${section}.${pair.key}`, { ...pair, source, env });
  });
}

function pairsOf(
  map: YAMLMap,
  { document, errorAt }: YamlSource,
): { key: string; at: number; node: unknown }[] {
  return map.items.map(({ key, value }) => {
    const at = offsetOf(key) ?? offsetOf(map) ?? 0;
    if (!isScalar(key) || typeof key.value !== 'string')
      throw errorAt(at, 'A key must be the name of an option or of a command.');
    return { key: key.value, at, node: resolveAlias(value, document) };
  });
}

const resolveAlias = (node: unknown, document: Document): unknown =>
  isAlias(node) ? node.resolve(document) : node;

const offsetOf = (node: unknown): number | undefined =>
  (node as { range?: readonly number[] | null } | null)?.range?.[0];

function describeUnknown(
  key: string,
  known: readonly string[],
  sections: readonly string[],
): string {
  const [first = '', ...others] = sections;
  const spelled = toKey(key);
  const closest = known.includes(spelled) ? spelled : findClosest(key, known);
  if (first !== '' && closest !== spelled) {
    const more = others.length === 0 ? '' : ` (or ${others.join(', ')})`;
    return `Unknown key \`${key}\`. Move it to the section ${first}${more}.`;
  }
  const hint =
    closest === undefined ? `Known keys: ${known.join(', ')}.` : `Did you mean \`${closest}\`?`;
  return `Unknown key \`${key}\`. ${hint}`;
}

/** Reads a value, and checks it if it does not contain a reference. */
function readValue(setting: Setting, path: string, { at, node, source, env }: Place): ConfigValue {
  const { option } = setting;
  const scalars = scalarsOf(node);
  const errorAt = (message: string): SandboxKitError =>
    source.errorAt(offsetOf(node) ?? at, `\`${path}\` ${message}`);
  if (!scalars) throw errorAt(`must be ${describeExpected(option)}, got a mapping.`);
  if (scalars.length > 0 && scalars.some(({ value }) => value === null)) {
    throw source.errorAt(at, `\`${path}\` has no value. It must be ${describeExpected(option)}.`);
  }
  if (option.isSecret && !scalars.every((each) => isReferenceOnly(textOf(each)))) {
    throw errorAt(
      `must not contain the secret itself. Name an environment variable, such as ${setting.key}: \${SANDBOX_KEY}.`,
    );
  }
  const isListAllowed = option.isList || option.schema.safeParse([]).success;
  if (isSeq(node) && !isListAllowed)
    throw errorAt(`must be ${describeExpected(option)}, got a list.`);
  const check = (value: unknown, isFromEnvironment: boolean): unknown => {
    const parsed = option.schema.safeParse(value, { reportInput: true });
    if (parsed.success) return value;
    const [issue] = parsed.error.issues;
    const expected = describeExpected(option);
    // The message does not quote the value of a variable, because it may be secret.
    if (isFromEnvironment)
      throw errorAt(`must be ${expected}. ${describeSource(scalars)} is invalid.`);
    throw errorAt(describeIssue('', issue, expected).trim());
  };
  const isDynamic = scalars.some((each) => hasReference(textOf(each)));
  const convertAll = (convert: (scalar: Scalar) => unknown): unknown => {
    const all = scalars.map(convert);
    return isSeq(node) || option.isList ? all : all[0];
  };
  if (!isDynamic) {
    const value = check(
      convertAll((scalar) => toOptionValue(option, scalar)),
      false,
    );
    return { setting, path, read: () => value };
  }
  const expand = (scalar: Scalar): unknown => {
    try {
      return parseText(
        option,
        replaceReferences(textOf(scalar), (name) => readVariable(name, env)),
      );
    } catch (error) {
      if (!(error instanceof InvalidReferenceError)) throw error;
      throw source.errorAt(offsetOf(scalar) ?? at, `${error.message}.`);
    }
  };
  return { setting, path, read: () => check(convertAll(expand), true) };
}

/** Returns the scalars of a value or of a list; undefined for anything else. */
function scalarsOf(node: unknown): Scalar[] | undefined {
  const nodes = isSeq(node) ? node.items : [node];
  return nodes.every((each): each is Scalar => isScalar(each)) ? nodes : undefined;
}

const describeExpected = (option: Option): string =>
  option.type === 'boolean' ? 'true or false' : expectedOf(option.schema);

const describeSource = (scalars: readonly Scalar[]): string =>
  scalars.length === 1 && scalars[0] ? `The value of ${textOf(scalars[0])}` : 'One of its values';

/** Returns a scalar with its spelling in the file, for example `017`. */
function textOf({ value, source }: Scalar): string {
  return typeof value === 'string' ? value : (source ?? String(value));
}

function toOptionValue({ type }: Option, scalar: Scalar): unknown {
  return type === 'string' ? textOf(scalar) : scalar.value;
}

/** Parses the value of a variable as the command line does. */
function parseText({ type }: Option, text: string): unknown {
  if (type === 'boolean' && ['true', 'false'].includes(text)) return text === 'true';
  return type === 'number' ? readNumber(text) : text;
}
