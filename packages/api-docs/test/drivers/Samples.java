/** Runs the programs that are named, in one virtual machine: to start one for each costs more than all of them. */
public final class Samples {
    public static void main(String[] args) throws Exception {
        for (String name : args) {
            System.out.println("--- " + name);
            Class.forName(name).getMethod("main", String[].class).invoke(null, (Object) new String[0]);
        }
    }
}
