// C# on .NET Framework 4.6, Mono, or .NET 6 or newer; no packages needed.
//   WEBHOOK_SECRET=… mono VerifyWebhook.exe "$X_WEBHOOK_TIMESTAMP" "$X_WEBHOOK_SIGNATURE" < raw-body
using System;
using System.IO;
using System.Security.Cryptography;
using System.Text;
using System.Text.RegularExpressions;

public static class VerifyWebhook
{
    /// <summary>rawBody is the bytes as received, before any JSON parser. Deduplicate on the id in the verified body.</summary>
    public static bool Verify(string secret, string timestamp, byte[] rawBody, string signature,
        long toleranceSeconds = 300, long? nowSeconds = null)
    {
        // Whoever recorded a delivery cannot send it again later.
        var epoch = new DateTime(1970, 1, 1, 0, 0, 0, DateTimeKind.Utc);
        var now = nowSeconds ?? (long)(DateTime.UtcNow - epoch).TotalSeconds;
        if (!Regex.IsMatch(timestamp, @"\A[0-9]{1,12}\z") || Math.Abs(now - long.Parse(timestamp)) > toleranceSeconds)
        {
            return false;
        }
        var prefix = Encoding.UTF8.GetBytes(timestamp + ".");
        var signed = new byte[prefix.Length + rawBody.Length];
        Buffer.BlockCopy(prefix, 0, signed, 0, prefix.Length);
        Buffer.BlockCopy(rawBody, 0, signed, prefix.Length, rawBody.Length);
        using (var hmac = new HMACSHA256(Encoding.UTF8.GetBytes(secret)))
        {
            var expected = BitConverter.ToString(hmac.ComputeHash(signed)).Replace("-", "").ToLowerInvariant();
            if (signature.Length != expected.Length)
            {
                return false;
            }
            // In constant time; on .NET 6 or newer CryptographicOperations.FixedTimeEquals does the same.
            var difference = 0;
            for (var i = 0; i < expected.Length; i++)
            {
                difference |= expected[i] ^ signature[i];
            }
            return difference == 0;
        }
    }

    public static int Main(string[] args)
    {
        var secret = Environment.GetEnvironmentVariable("WEBHOOK_SECRET");
        if (args.Length < 2 || secret == null)
        {
            Console.Error.WriteLine("usage: WEBHOOK_SECRET=... mono VerifyWebhook.exe TIMESTAMP SIGNATURE < raw-body");
            return 2;
        }
        var rawBody = new MemoryStream();
        Console.OpenStandardInput().CopyTo(rawBody);
        var valid = Verify(secret, args[0], rawBody.ToArray(), args[1]);
        Console.WriteLine(valid ? "valid" : "INVALID");
        return valid ? 0 : 1;
    }
}
