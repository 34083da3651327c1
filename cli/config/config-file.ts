/** Reads a configuration file. Every error names the file, the line, and the column. */
import { isAlias, isMap, isScalar, type Document, type YAMLMap } from 'yaml';
import type { CommandDescription } from '../command.ts';
import { findClosest } from '../../src/platform/suggest.ts';
import type { Variables } from '../process.ts';
import { readYamlSource, type YamlSource } from '../../library/input/documents.ts';
import { offsetOf, readValue, type ConfigValue, type Place } from './config-value.ts';
import { settingsOf, sharedSettingsOf, toKey, type Settings } from './settings.ts';

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
    else if (setting) values.push(readValue({ setting, path: key, at, node, source, env }));
    else {
      const known = [...commandByKey.keys(), ...shared.keys()];
      const owners = commands
        .filter((each) => settingsOf(each).has(toKey(key)))
        .map(({ name }) => toKey(name));
      throw source.errorAt(at, describeUnknown(key, known, owners));
    }
  }
  return { shared: values, sections };
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
  return pairsOf(node, source).map(({ key, ...value }) => {
    const setting = settings.get(key);
    if (!setting) throw source.errorAt(value.at, describeUnknown(key, [...settings.keys()], []));
    return readValue({ setting, path: `${section}.${key}`, ...value, source, env });
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
