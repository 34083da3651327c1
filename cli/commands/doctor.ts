import { diagnoseOptions } from '../../conformance/options.ts';
import { SERVICE_API_KEY_HEADER } from '../../src/contract/index.ts';
import { runDiagnosis } from '../../library/run-diagnosis.ts';
import { argument, defineCommand, type ValuesOf } from '../command.ts';
import { exitCodes } from '../errors.ts';
import { libraryValues } from '../../src/options/table.ts';
import { sandboxUrl } from '../../src/options/values.ts';
import { quoteArgument } from '../../src/platform/shell.ts';
import { typeCommand } from '../../src/report-kit/program-name.ts';
import { readAccess } from '../input/connection.ts';
import { writeJsonOutput } from '../output/files.ts';
import { openOutputs } from '../output/outputs.ts';
import { createTerminal } from '../output/terminal.ts';

const positionals = { url: argument(sandboxUrl, 'Base URL of the sandbox or service') };

export const doctor = defineCommand({
  description: [
    'Tests the address, TLS, the API key, and one request per endpoint, and names the first problem with its fix.',
  ],
  arguments: positionals,
  options: diagnoseOptions,
  examples: [
    { command: 'sandbox-kit doctor https://sandbox.example.com' },
    { command: 'sandbox-kit doctor https://localhost:8443 --ca sandbox-kit-ca.pem' },
    { command: 'sandbox-kit doctor SERVICE_URL --area service' },
  ],
  exitCodes: { 0: 'reachable', 3: 'not reachable' },
  async run(values, { process }) {
    const { url, json } = values;
    const conformance = await import('../../conformance/index.ts');
    const access = readAccess(values, process.env);
    const out = openOutputs({ json }, process);
    const progress = createTerminal(process.stderr, process.env);
    progress.live('Testing the endpoints. Without responses, this takes a minute or more.');
    const options = libraryValues(diagnoseOptions, values);
    const diagnosis = await runDiagnosis({ ...options, ...access, url });
    progress.live('');
    out.write(
      conformance.diagnosisText(
        diagnosis,
        (areas) => typeCommand(formatCheckCommand(values, areas), out.program),
        out,
      ),
    );
    if (json !== undefined) {
      writeJsonOutput(json, conformance.diagnosisJson(diagnosis), process.stdout);
    }
    return diagnosis.blockedBy ? exitCodes.notJudged : exitCodes.ok;
  },
});

/** Returns the command that checks some areas with the same access options. */
function formatCheckCommand(
  values: ValuesOf<typeof positionals, typeof diagnoseOptions>,
  areas: readonly string[] | undefined = values.areas,
): string {
  const { apiKeyHeader } = values;
  const parts = [
    ['--area', areas?.join(',')],
    ['--ca', values.ca],
    ['--header-file', values.headers],
    ['--cert', values.cert],
    ['--key', values.key],
    ['--key-passphrase-file', values.keyPassphraseFile],
    ['--voice-url', values.voice?.url],
    ['--api-key-file', values.apiKeyFile],
    ['--api-key-header', apiKeyHeader === SERVICE_API_KEY_HEADER ? undefined : apiKeyHeader],
  ].flatMap(([name = '', value]) =>
    value === undefined ? [] : [`${name} ${quoteArgument(value)}`],
  );
  const waiver = values.allowHttp ? ['--allow-http'] : [];
  return ['sandbox-kit check', quoteArgument(values.url), ...parts, ...waiver].join(' ');
}
