import type { CommandModule } from 'yargs';
/** placeholder */
export const demoVerb: CommandModule = { command: 'demo', describe: 'x', handler: () => {} };
