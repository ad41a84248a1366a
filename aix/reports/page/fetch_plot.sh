#!/bin/sh
# Make plot.min.js, the library of charts, from npm packages: Observable Plot without the parts that no chart needs.
# Needs Node.js and npm. Run it to renew the library, then run `make test-browser`, which fails where the style sheet of
# the charts has changed: its text stands in aix/reports/html.py, because the policy of the page names its hash.
set -eu
PLOT=0.6.17
ESBUILD=0.28.2
BEFORE=2026-11-01  # the packages that these two need are taken as they were on that day
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
echo '{"private": true}' > package.json
npm install --silent --no-audit --no-fund --before="$BEFORE" "@observablehq/plot@$PLOT" "esbuild@$ESBUILD"
cat > entry.js <<'END'
export { plot, barX, barY, rectY, lineY, dot, text, cell, ruleX, ruleY, link } from "@observablehq/plot";
END
npx esbuild entry.js --bundle --minify --format=iife --global-name=Plot --legal-comments=none \
  --banner:js="/*! Observable Plot $PLOT and what it needs of D3; the licences are in plot.licences.txt */" \
  --metafile=meta.json --outfile=plot.min.js --log-level=error
node -e '
const fs = require("fs");
const { inputs } = JSON.parse(fs.readFileSync("meta.json"));
const packages = new Set(Object.keys(inputs).map((path) => (path.match(/^node_modules\/((?:@[^/]+\/)?[^/]+)/) || [])[1]));
for (const name of [...packages].filter(Boolean).sort()) {
  const folder = `node_modules/${name}`;
  const { version, license } = JSON.parse(fs.readFileSync(`${folder}/package.json`));
  const file = fs.readdirSync(folder).find((each) => /^(un)?licen[cs]e/i.test(each));
  console.log(`== ${name} ${version} (${license})\n`);
  console.log(file ? fs.readFileSync(`${folder}/${file}`, "utf8").trim() + "\n" : "");
}' > plot.licences.txt
sha256sum plot.min.js > plot.min.js.sha256
cp plot.min.js plot.licences.txt plot.min.js.sha256 "$here/"
cat plot.min.js.sha256
