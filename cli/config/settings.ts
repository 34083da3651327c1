/** The settings of a configuration file, derived from the options of the commands. */
import type * as z from 'zod';
import type { CommandDescription } from '../command.ts';
import { isOnByDefault, option, type Option } from '../../src/options/option.ts';
import { describeOption } from '../output/help.ts';

/** One key of a configuration file. */
export interface Setting {
  /** Name of the option or argument, such as `api-key-file`. */
  name: string;
  /** Key in the file, such as `apiKeyFile`. */
  key: string;
  option: Option;
  /** One sentence without a full stop, with the default. */
  help: string;
}

/** The settings of a section, or the shared settings, by key. */
export type Settings = ReadonlyMap<string, Setting>;

/** Returns the key of an option or a command: `api-key-file` becomes `apiKeyFile`. */
export function toKey(name: string): string {
  return name.replaceAll(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** Returns the settings in the section of a command: its options and its URL. */
export function settingsOf(command: CommandDescription): Settings {
  const { url } = command.arguments;
  const options = Object.entries(command.options).filter(([name]) => name !== 'config');
  const all = url ? [['url', toOption(url)] as const, ...options] : options;
  return byKey(
    all.map(([name, option]) => ({ name, key: toKey(name), option, help: helpOf(option) })),
  );
}

/** Returns the settings outside of sections, which apply to every command that tests a sandbox. */
export function sharedSettingsOf(commands: readonly CommandDescription[]): Settings {
  return byKey(
    commands.flatMap((command) =>
      [...settingsOf(command).values()].filter(({ option }) => option.isShared),
    ),
  );
}

function toOption({ schema, help }: { schema: z.ZodType; help: string }): Option {
  return { ...option(schema, 'URL', help), schema, isShared: true };
}

function helpOf(option: Option): string {
  const help = describeOption(option);
  // The help of a switch that is on by default describes the effect of turning it off.
  return isOnByDefault(option) ? `false: ${help}` : help;
}

const byKey = (settings: readonly Setting[]): Settings =>
  new Map(settings.map((setting) => [setting.key, setting]));
