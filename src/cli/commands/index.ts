/** All commands, in the order of the help. Each loads the packages it needs when it runs. */
import type { Command } from '../command.ts';
import { agent } from './agent.ts';
import { check } from './check.ts';
import { demo } from './demo.ts';
import { doctor } from './doctor.ts';
import { exec } from './exec.ts';
import { explain } from './explain.ts';
import { grade } from './grade.ts';
import { lintTraces } from './lint-traces.ts';
import { load } from './load.ts';
import { scenario } from './scenario.ts';
import { schemas } from './schemas.ts';
import { selftest } from './selftest.ts';
import { serve } from './serve.ts';
import { simulate } from './simulate.ts';

export const commands: readonly Command[] = [
  check,
  doctor,
  load,
  simulate,
  scenario,
  agent,
  serve,
  exec,
  lintTraces,
  explain,
  grade,
  selftest,
  schemas,
  demo,
];
