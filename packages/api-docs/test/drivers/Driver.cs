using System;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Text;

/// <summary>Runs the class that is named first, so that one compilation serves all. Without one, the vectors.</summary>
public static class Driver
{
    public static int Main(string[] args)
    {
        if (args[0] == "vectors") return Vectors(args[1]);
        var main = Type.GetType(args[0]).GetMethod("Main", BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Static);
        var rest = main.GetParameters().Length == 0 ? new object[0] : new object[] { args.Skip(1).ToArray() };
        return (int)main.Invoke(null, rest);
    }

    /// <summary>Reads lines of base64 fields, as the Java driver does.</summary>
    private static int Vectors(string file)
    {
        var count = 0;
        foreach (var line in File.ReadAllLines(file))
        {
            var f = line.Split(' ');
            for (var i = 1; i < f.Length; i++) f[i] = Encoding.UTF8.GetString(Convert.FromBase64String(f[i])).Substring(1);
            var body = Encoding.UTF8.GetBytes(f[f.Length - 2]);
            var signature = f[f.Length - 1];
            if (f[0] == "request") Check(SignRequest.Sign(f[2], f[3], f[4], f[5], body) == signature, f[1]);
            else
            {
                var tolerance = long.Parse(f[4]);
                var now = long.Parse(f[5]);
                Check(VerifyWebhook.Verify(f[2], f[3], body, signature, tolerance, now) == (f[6] == "true"), f[1]);
                Check(!VerifyWebhook.Verify(f[2], f[3], Encoding.UTF8.GetBytes(f[f.Length - 2] + " "), signature, tolerance, now), f[1]);
            }
            count++;
        }
        Console.WriteLine("verified " + count);
        return 0;
    }

    private static void Check(bool good, string name)
    {
        if (!good) throw new Exception(name);
    }
}
