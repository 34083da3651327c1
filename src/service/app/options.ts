import { codeOption } from '../../options/option.ts';
import { optionsSchema } from '../../options/table.ts';
import { objectOption } from '../../platform/options.ts';
import type { ServiceOptions } from '../generated/options.ts';
import type { KitFunctions } from '../operations/kit-functions.ts';
import { serviceOptions } from '../options.ts';

export type { ServiceOptions } from '../generated/options.ts';

/** The options of the service, and what the package above it adds to those of its caller. */
export interface ServiceSetup extends ServiceOptions {
  /** Functions of other packages. Without them, the pages leave out the actions that need them. */
  kit: KitFunctions;
}

const kit = codeOption({
  schema: objectOption,
  type: 'KitFunctions',
  about: 'Functions of other packages.',
});

/** The options of a service, with the defaults of those that it needs. */
export type StartOptions = Partial<ServiceSetup> & Pick<ServiceOptions, 'host' | 'keys'>;

// Messages list the host first.
const { host, ...others } = serviceOptions;

/** Schema of the options of `startService`. Seed data has a separate schema. */
export const serviceOptionsSchema = optionsSchema({ host, ...others, kit });
