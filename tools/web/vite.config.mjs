// dist/index.html with hashed assets for the server, and dist/offline.html: the same in one file.

import { createHash } from 'node:crypto';
import { defineConfig } from 'vite';

const sha = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

// One file that opens from file: and asks nobody. Its policy names the two blocks it may run
// by their hashes; the data block is not a script, so no policy concerns it.
function offline() {
  return {
    name: 'attn-offline',
    enforce: 'post',
    generateBundle(_, bundle) {
      const files = Object.values(bundle);
      const scripts = files.filter((file) => file.type === 'chunk');
      const styles = files.filter((file) => file.fileName.endsWith('.css'));
      if (scripts.length !== 1 || styles.length !== 1) {
        this.error(`expected one script and one style sheet, found ${scripts.length} and ${styles.length}`);
      }
      const script = scripts[0].code;
      const style = String(styles[0].source);
      if (/<\/script|<!--/i.test(script) || /<\/style/i.test(style)) {
        this.error('the bundle would close its own element');
      }
      const policy = [
        "default-src 'none'",
        `script-src ${sha(script)}`,
        `style-src ${sha(style)}`,
        "base-uri 'none'",
        "form-action 'none'",
      ].join('; ');
      const page = String(bundle['index.html'].source)
        .replace(/\s*<script [^>]*><\/script>/, '')
        .replace(/\s*<link [^>]*>/g, '')
        .replace('<meta charset="utf-8">', (meta) =>
          `${meta}\n    <meta http-equiv="Content-Security-Policy" content="${policy}">`)
        .replace('</head>', () => `  <style>${style}</style>\n  </head>`)
        .replace('</body>', () =>
          `<!--attn-data-->\n    <script type="module">${script}</script>\n  </body>`);
      this.emitFile({ type: 'asset', fileName: 'offline.html', source: page });
    },
  };
}

export default defineConfig({
  base: './',
  plugins: [offline()],
  build: {
    target: 'es2022',
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    modulePreload: false,
    reportCompressedSize: false,
  },
});
