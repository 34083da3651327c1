import { existsSync } from 'node:fs';
import type { CommandDescription } from '../command.ts';
import { UsageError } from '../errors.ts';
import { allFromCommandLine, CONFIG_FILE, type ValueOrigin } from '../flags/config-option.ts';
import { fill } from '../output/message.ts';
import type { CommandProcess } from '../process.ts';
import type { ConfigFile } from './config-file.ts';
import type { ConfigValue } from './config-value.ts';

type Values = Readonly<Record<string, unknown>>;

/** The values of a command, and the names of those that the configuration file set. */
interface Configured {
  values: Values;
  origin: ValueOrigin;
}

/**
 * Adds values of the configuration file that the command line does not set. If it adds any, it names
 * the file and the keys on stderr.
 *
 * @throws {UsageError} if the file is invalid, or an environment variable that it needs is unset.
 */
export async function applyConfigFile(
  command: CommandDescription,
  loadCommands: () => Promise<readonly CommandDescription[]>,
  values: Values,
  { env, stderr }: CommandProcess,
): Promise<Configured> {
  const path = findConfigFile(values['config']);
  if (path === undefined)
    return { values: { ...values, config: undefined }, origin: allFromCommandLine };
  // Loaded only if there is a file, because the YAML library makes the command start later.
  const { readConfigFile } = await import('./config-file.ts');
  const given: Values = { ...values, config: undefined };
  const added = selectValues(command, readConfigFile(path, await loadCommands(), env), given);
  if (added.length > 0) {
    const keys = added.map((value) => value.path).join(', ');
    stderr.write(`${fill(`sandbox-kit: Using ${path}: ${keys}.`)}\n`);
  }
  const names = new Set(added.map(({ setting }) => setting.name));
  return {
    values: {
      ...given,
      ...Object.fromEntries(added.map(({ setting, read }) => [setting.name, read()])),
    },
    origin: { isFromFile: (name) => names.has(name) },
  };
}

/** Returns the path in --config, or the path of the file in the working directory. */
function findConfigFile(config: unknown): string | undefined {
  if (config === false) return undefined;
  if (typeof config === 'string') return config;
  if (config !== undefined) throw new UsageError('--config can be given only once.');
  return [CONFIG_FILE, CONFIG_FILE.replace(/yaml$/, 'yml')].find((path) => existsSync(path));
}

/**
 * Returns the values of the section and the shared values that apply to this run. The command line
 * takes precedence over the section, and the section over shared values.
 */
function selectValues(command: CommandDescription, file: ConfigFile, given: Values): ConfigValue[] {
  const section = file.sections.get(command.name) ?? [];
  const selected = dropReplaced(section, command, setNames(given));
  const area = selected.find(({ setting }) => setting.name === 'area')?.read() ?? given['area'];
  // The shared values are about a sandbox, but this run tests a service.
  if (String(area) === 'service') return selected;
  const names = [...setNames(given), ...selected.map(({ setting }) => setting.name)];
  const { options } = command;
  const shared = file.shared.filter(({ setting: { name } }) =>
    name === 'url' ? command.arguments['url'] : options[name]?.isShared,
  );
  return [...selected, ...dropReplaced(shared, command, names)];
}

const setNames = (given: Values): string[] =>
  Object.keys(given).filter((name) => given[name] !== undefined);

function dropReplaced(
  values: readonly ConfigValue[],
  { options }: CommandDescription,
  names: readonly string[],
): ConfigValue[] {
  const replaced = new Set(names.flatMap((name) => [name, ...(options[name]?.replaces ?? [])]));
  return values.filter(({ setting }) => !replaced.has(setting.name));
}
