import { option } from '../../src/options/option.ts';
import { filePath } from '../../src/options/values.ts';

/** The configuration file that commands read from the working directory. */
export const CONFIG_FILE = 'sandbox-kit.config.yaml';

/** The option for the path of the configuration file, which every command has. */
export const configOption = option(
  filePath,
  'FILE',
  'Read options from this YAML file; --no-config ignores it',
  `${CONFIG_FILE}, if it exists`,
);

/** Tells whether the value of an option comes from the configuration file. */
export interface ValueOrigin {
  /** Returns whether the configuration file set the option. */
  isFromFile(name: string): boolean;
}

/** The origin of values in a run without a configuration file. */
export const allFromCommandLine: ValueOrigin = { isFromFile: () => false };
