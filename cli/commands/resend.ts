import { existsSync } from 'node:fs';
import type * as conformanceModule from '../../conformance/index.ts';
import { resendOptions } from '../../conformance/options.ts';
import { connectionOf } from '../../library/connection.ts';
import {
  findRequest,
  findTarget,
  readResendInput,
  RESEND_FILE,
  runResend,
} from '../../library/run-resend.ts';
import { libraryValues, spellAsFlag } from '../../src/options/table.ts';
import { filePath, text } from '../../src/options/values.ts';
import { argument, defineCommand, type ValuesOf } from '../command.ts';
import { UsageError } from '../errors.ts';
import { readCa, readConnection } from '../input/connection.ts';
import { readSandboxKey } from '../input/keys.ts';
import { writeJsonOutput } from '../output/files.ts';
import { openOutputs, rejectOverwriting } from '../output/outputs.ts';
import type { CommandProcess } from '../process.ts';
import { abortOnStopSignal } from '../signals.ts';

const positionals = {
  report: argument(
    // Checked here, so that a wrong path is named even if the exchange is missing.
    filePath
      .refine((path) => path === '-' || existsSync(path), {
        error: ({ input }) => `must be ${RESEND_FILE}, but ${String(input)} does not exist.`,
      })
      .describe(RESEND_FILE),
    'File of check --json, check --record, or simulate --json',
  ),
  exchange: argument(
    text.describe(
      'the number of an exchange of the report, such as 65, or a turn of a simulation, such as refund-1/3',
    ),
    'Number of the exchange; in a simulation, a chat turn such as refund-1/3',
  ),
};

type ResendValues = ValuesOf<typeof positionals, typeof resendOptions>;

export const resend = defineCommand({
  description: [
    'Sends the request again with the same headers and body, and judges the response by the requirements that judged it in the run. If its failure involves other requests, sends those, too. If it depends on a user, earlier turns, or a connection, first sends the requests that created them; deletes the users afterward.',
    'A report contains the requests of findings and crashes; a recording contains all requests. A turn of a simulation is also judged by the evals that failed at it. Only chat sessions can be sent again: to repeat a voice session, run simulate again with its scenario and --seed.',
  ],
  arguments: positionals,
  options: resendOptions,
  examples: [
    { command: 'sandbox-kit check URL --json report.json' },
    { command: 'sandbox-kit resend report.json 65' },
    {
      note: 'Send it to another sandbox',
      command: 'sandbox-kit resend report.json 65 --url http://127.0.0.1:8081',
    },
    {
      note: 'Repeat turn 3 of a simulated chat session that did not pass',
      command: 'sandbox-kit resend simulation.json refund-1/3',
    },
  ],
  exitCodes: { 0: 'conforming now', 1: 'not conforming', 3: 'could not judge' },
  async run(values, { process }) {
    const conformance = await import('../../conformance/index.ts');
    try {
      return await sendAgain(values, process, conformance);
    } catch (error) {
      if (!(error instanceof conformance.ResendError)) throw error;
      throw new UsageError(error.message);
    }
  },
});

const spell = spellAsFlag(resendOptions);

/** @throws {ResendError} if the request can't be sent. */
async function sendAgain(
  values: ResendValues,
  process: CommandProcess,
  conformance: typeof conformanceModule,
): Promise<number> {
  const input = readResendInput(values.report, spell, conformance);
  const outputs = { json: values.json };
  rejectOverwriting(outputs, spell('report'), [values.report]);
  const apiKey = readSandboxKey(values, process.env);
  const source = findRequest(input, { exchange: values.exchange, apiKey }, spell, conformance);
  const { target, hasSecret } = findTarget(source, values, spell, conformance);
  const keyHeader = hasSecret && apiKey !== undefined ? 'authorization' : undefined;
  const access = {
    apiKey,
    ca: readCa(values.ca),
    ...readConnection(values, { urls: [target], keyHeader }, process.env),
  };
  const connection = connectionOf(access);
  conformance.rejectMissingCredentials(source, { apiKey, connection, spell });
  const out = openOutputs(outputs, process);
  out.write(`${out.style('bold', `sandbox-kit resend ${values.report} ${values.exchange}`)}\n`);
  out.write(`To ${target}\n\n`);
  using interrupt = abortOnStopSignal(process, 'Stopping.');
  const options = { ...libraryValues(resendOptions, values), ...access, signal: interrupt.signal };
  const report = await runResend(source, target, options, spell);
  out.write(conformance.resendText(report, out));
  if (values.json !== undefined) {
    writeJsonOutput(values.json, report, process.stdout);
  }
  return report.exitCode;
}
