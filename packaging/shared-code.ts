/**
 * What nearly every command loads. The build imports this file in every entry point, so that these
 * files and everything that they import are in one chunk instead of many small ones, each of which
 * takes about half a millisecond to load. It leads to nothing large except zod and the validators.
 */
import '../src/cli/command.ts';
import '../src/cli/commands/servers.ts';
import '../src/cli/config/apply-config-file.ts';
import '../src/cli/flags/environment.ts';
import '../src/cli/flags/shared-options.ts';
import '../src/cli/output/help-layout.ts';
import '../src/cli/output/terminal.ts';
import '../src/cli/signals.ts';
import '../src/contract/index.ts';
import '../src/http-kit/listen.ts';
import '../src/http-kit/local-access.ts';
import '../src/library/kit-version.ts';
import '../src/platform/log.ts';
import '../src/platform/options.ts';
import '../src/platform/pacer.ts';
import '../src/platform/pattern-match.ts';
import '../src/platform/random.ts';
import '../src/voice/activity/index.ts';
import '../src/voice/opus/index.ts';
import '../src/voice/peer/peer.ts';
import '../src/voice/speech/index.ts';
import './string-width.js';
